/**
 * Reads WHATWG's event streams. A stream is complete only after its last event: if the connection ends earlier, the
 * reader throws StreamTruncatedError.
 */

import { ConnectionError, ProtocolError, RequestTimeoutError } from './client-api-error.ts'

/** The longest event in bytes, without line ends. All clients have this limit. */
const eventBytesMax = 16 * 1024 * 1024

/** A stream ended without its last event: the connection was cut, and the answer is incomplete. */
export class StreamTruncatedError extends ConnectionError {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StreamTruncatedError'
  }
}

/** One stream. `signal` is the caller's cancel signal, and its reason is thrown unchanged. */
export type EventSource = {
  body: ReadableStream<Uint8Array> | null
  /** Marks the last frame: an event's name, or for a frame without a name `[DONE]` or its data's `type`. */
  terminalEvents: readonly string[]
  signal: AbortSignal | undefined
  /** Receives the id of each event, if it has one. */
  takeId?: (id: string) => void
}

export type NamedEvent = { event: string; data: unknown }

/** Yields {event, data} until a terminal event. Throws StreamTruncatedError if the stream ends earlier. */
export async function* readEvents(source: EventSource): AsyncGenerator<NamedEvent> {
  for await (const { event, data } of frames(source)) {
    yield { event, data: parsed(data) }
    if (source.terminalEvents.includes(event)) return
  }
  throw new StreamTruncatedError(cut)
}

/**
 * Yields the data in frames without a name, until the last frame. If the stream failed, throws `toError` of its data.
 */
export async function* readData(source: EventSource, toError: (data: unknown) => Error): AsyncGenerator<unknown> {
  for await (const { data } of frames(source)) {
    if (data === '[DONE]') return
    const value = parsed(data)
    const { error = null, type } = (value ?? {}) as Record<string, unknown>
    if (error !== null) throw toError(value)
    yield value
    if (source.terminalEvents.includes(String(type))) return
  }
  throw new StreamTruncatedError(cut)
}

/** A generator that was not started runs no `finally`, so leaving it must cancel the body here. */
export function leavable<Item>({ body }: EventSource, items: AsyncGenerator<Item>): AsyncGenerator<Item> {
  const end = items.return.bind(items)
  items.return = async (value) => {
    await leave(body)
    return end(value)
  }
  return items
}

/** Ends an answer without a reader, so that its connection does not stay open. */
export async function leave(body: ReadableStream<Uint8Array> | null): Promise<null> {
  if (body?.locked === false) await body.cancel().catch(() => undefined)
  return null
}

const cut = 'The stream ended before its last event; the connection was cut.'

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (error) {
    throw new ProtocolError('An event is not JSON.', { cause: error })
  }
}

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

async function* lines({ body, signal }: EventSource) {
  const reader = body?.getReader()
  if (!reader) return
  const splitter = new LineSplitter()
  try {
    for (let chunk = await read(reader, signal); !chunk.done; chunk = await read(reader, signal))
      yield* splitter.take(chunk.value)
  } finally {
    // If the reader stops, the server must stop sending.
    await reader.cancel().catch(() => undefined)
  }
}

/** Reads each byte once, because an event in many chunks would take quadratic time otherwise. */
class LineSplitter {
  readonly #decoder = new TextDecoder()
  /** The begun line. */
  #line = ''
  /** The bytes of the current, unfinished event, without line ends. */
  #eventBytes = 0
  /** True if the text so far ends in CR. The LF of this line end may come with the next chunk. */
  #isAfterCr = false

  #add(piece: string): void {
    this.#line += piece
    this.#eventBytes += byteLength(piece)
    if (this.#eventBytes > eventBytesMax) throw new ProtocolError(`An event is longer than ${eventBytesMax} bytes.`)
  }

  *take(chunk: Uint8Array): Generator<string> {
    const decoded = this.#decoder.decode(chunk, { stream: true })
    if (decoded === '') return
    const text = this.#isAfterCr && decoded.startsWith('\n') ? decoded.slice(1) : decoded
    this.#isAfterCr = decoded.endsWith('\r')
    const [first = '', ...others] = text.split(/\r\n|\n|\r/)
    this.#add(first)
    for (const next of others) {
      if (this.#line === '') this.#eventBytes = 0
      yield this.#line
      this.#line = ''
      this.#add(next)
    }
  }
}

/** The length in UTF-8. */
export const byteLength = (text: string) => new TextEncoder().encode(text).length

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal | undefined) {
  try {
    return await reader.read()
  } catch (error) {
    if (signal?.aborted === true || error instanceof RequestTimeoutError) throw error
    throw new StreamTruncatedError(cut, { cause: error })
  }
}
