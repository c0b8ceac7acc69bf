/** Returns true if the page needs a key from its user. The server says so in the page. */
export const needsKey = () => document.documentElement.dataset.key === 'asked'

/**
 * Sends a request like `fetch`, but throws a clear error if the server does not answer. The browsers' texts are
 * unclear: "Failed to fetch" or "Load failed".
 */
export async function reach(path, options) {
  try {
    return await fetch(path, options)
  } catch (cause) {
    throw new Error('The server does not answer. Start it again, or look at the network, then try once more.', {
      cause,
    })
  }
}
