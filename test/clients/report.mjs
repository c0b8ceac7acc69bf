// Shared by all client programs: the environment names the server, and each step prints its result as one JSON line.
export const [baseURL, apiKey, recording] = ['PARLEY_BASE_URL', 'PARLEY_KEY', 'PARLEY_RECORDING'].map(
  (name) => process.env[name],
)
export const [good, cut, reset] = ['stub:stub-llm', 'cut:stub-llm', 'reset:stub-llm']
export const sentence = 'Thank you for calling.'

export async function report(steps) {
  for (const [step, run] of Object.entries(steps)) {
    const outcome = await run().then(
      (value) => ({ value }),
      (error) => ({
        error: { name: error.name, message: String(error.message), status: error.status ?? error.statusCode ?? null },
      }),
    )
    console.log(JSON.stringify({ step, ...outcome }))
  }
}

/** Joins a stream's pieces and counts them: if there is one piece, the answer was not streamed. */
export async function collect(stream, read) {
  const pieces = []
  for await (const part of stream) {
    const piece = read(part)
    if (piece) pieces.push(piece)
  }
  return { text: pieces.join(''), pieces: pieces.length }
}

export function describeAudio(bytes) {
  return { bytes: bytes.length, head: Buffer.from(bytes.subarray(0, 4)).toString('latin1') }
}

/**
 * Asks five times for a model without a credential. Returns the error, and the shortest waiting time in milliseconds.
 */
export async function withoutCredential(ask) {
  let fewest = Infinity
  let message = null
  for (let round = 0; round < 5; round++) {
    const started = performance.now()
    await ask().catch((error) => (message = String(error.message)))
    fewest = Math.min(fewest, performance.now() - started)
  }
  return { message, milliseconds: Math.round(fewest) }
}
