/**
 * Reads WHATWG's event streams. A stream is complete only after its last event: if the connection ends before, the
 * reader throws StreamTruncatedError.
 */

/** A stream ended without its last event: the connection was cut, and the answer is incomplete. */
export class StreamTruncatedError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StreamTruncatedError'
  }
}

/** One stream. `signal` is the caller's, whose reason is thrown unchanged. */
export type EventSource = {
  body: ReadableStream<Uint8Array> | null
  /** Marks the last frame: an event's name, or for a frame without a name `[DONE]` or its data's `type`. */
  terminalEvents: readonly string[]
  eventBytesMax: number
  signal: AbortSignal | undefined
  /** Receives the id of each event, if it has one. */
  takeId?: (id: string) => void
}

/** Yields {event, data} until a terminal event. Throws StreamTruncatedError if the stream ends before. */
export async function* readEvents(source: EventSource): AsyncGenerator<{ event: string; data: unknown }> {
  for await (const { event, data } of frames(source)) {
    yield { event, data: JSON.parse(data) }
    if (source.terminalEvents.includes(event)) return
  }
  throw new StreamTruncatedError(cut)
}

/** Yields the data in frames without a name, until the last frame. If the stream failed, throws `toError` of its data. */
export async function* readData(source: EventSource, toError: (data: unknown) => Error): AsyncGenerator<unknown> {
  for await (const { data } of frames(source)) {
    if (data === '[DONE]') return
    const value = JSON.parse(data) as Record<string, unknown>
    if (value['error'] !== undefined) throw toError(value)
    yield value
    if (source.terminalEvents.includes(String(value['type']))) return
  }
  throw new StreamTruncatedError(cut)
}

const cut = 'The stream ended before its last event; the connection was cut.'

/** Lines end in LF, CR or CRLF, a blank line ends an event, and a colon starts a comment. */
async function* frames(source: EventSource) {
  let event = 'message'
  let data: string[] = []
  let id: string | null = null
  for await (const line of lines(source)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'event') event = value
    if (name === 'data') data.push(value)
    if (name === 'id') id = value
    if (line !== '') continue
    if (data.length > 0) yield { event, data: data.join('\n') }
    // The id counts only once the caller has taken the event.
    if (id !== null) source.takeId?.(id)
    id = null
    event = 'message'
    data = []
  }
}

async function* lines({ body, eventBytesMax, signal }: EventSource) {
  const reader = body?.getReader()
  if (!reader) return
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (let chunk = await read(reader, signal); !chunk.done; chunk = await read(reader, signal)) {
      // A CR at the very end is kept back, because its LF may come with the next chunk.
      const pieces = (rest + decoder.decode(chunk.value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = pieces.pop() ?? ''
      if (rest.length > eventBytesMax) throw new StreamTruncatedError(`An event is longer than ${eventBytesMax} bytes.`)
      yield* pieces
    }
  } finally {
    // If the reader stops, the server must stop sending.
    await reader.cancel().catch(() => undefined)
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal | undefined) {
  try {
    return await reader.read()
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new StreamTruncatedError(cut, { cause: error })
  }
}
