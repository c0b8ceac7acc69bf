/** A hold: the rows of a list must stay where they are while a person looks through the rows. */

/**
 * A hold can end only at such an event, or when the row with the focus is removed, which fires no event. So `isHeld`
 * runs again at these times.
 */
const events = ['scroll', 'focusin', 'focusout']

/** Resolves when the hold ends, or at an abort. */
export function whenReleased(isHeld: () => boolean, signal: AbortSignal): Promise<void> {
  if (signal.aborted || !isHeld()) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      for (const name of events) document.removeEventListener(name, look, true)
      removals.disconnect()
      signal.removeEventListener('abort', end)
      resolve()
    }
    // While the focus moves from row to row, no row has the focus for a moment.
    const look = () => requestAnimationFrame(() => !isHeld() && end())
    const removals = new MutationObserver(look)
    removals.observe(document.body, { childList: true, subtree: true })
    for (const name of events) document.addEventListener(name, look, true)
    signal.addEventListener('abort', end)
  })
}
