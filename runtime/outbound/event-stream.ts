import { isAscii } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import { parseJson } from '../engine/json.ts'
import { OutboundError } from './outbound-error.ts'

export type StreamEvent = { event?: string; data: string }

/**
 * Reads server-sent events (WHATWG HTML §9.2) from the chunks of a response body. The standard drops a last event
 * without its closing blank line. Providers omit this line, so the event counts if its data are whole. `eventCharsMax`
 * bounds the text of one unfinished event. If it is longer, throws OutboundError `protocol`.
 */
export async function* readEventStream(
  chunks: AsyncIterable<Uint8Array>,
  eventCharsMax: number,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = new EventReader(eventCharsMax)
  try {
    for await (const chunk of chunks) {
      yield* reader.read(chunk)
      reader.check()
    }
  } catch (error) {
    // If the connection is cut right after the last event, its reader must see this event before the failure.
    if (error instanceof OutboundError && error.failure === 'cut') yield* reader.end()
    throw error
  }
  yield* reader.end()
}

/**
 * Reads events from chunks. The calling code loops over the chunks, because a generator for each chunk would cost too
 * much.
 */
export class EventReader {
  /** Created at the first non-ASCII chunk, because creating it takes longer than reading most streams. */
  #decoder: TextDecoder | null = null
  #hasRead = false
  readonly #parser: EventSourceParser
  #ready: StreamEvent[] = []
  #broken: Error | null = null

  constructor(eventCharsMax: number) {
    this.#parser = createParser({
      maxBufferSize: eventCharsMax,
      onEvent: ({ event, data }) => this.#ready.push(event === undefined ? { data } : { event, data }),
      onError: (error) => {
        // Unknown fields and invalid retry lines must be ignored (WHATWG HTML §9.2).
        if (error.type === 'max-buffer-size-exceeded') this.#broken = error
      },
    })
  }

  /** Returns the events finished by this chunk. The calling code must call `check` next. */
  read(chunk: Uint8Array): StreamEvent[] {
    this.#parser.feed(this.#textOf(chunk))
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  /** Returns the unfinished last event, if its data are whole. Must be called once, after the last chunk. */
  end(): StreamEvent[] {
    if (this.#broken) return []
    this.#parser.feed('\n\n')
    return this.#ready.filter(({ data }) => isWhole(data))
  }

  #textOf(chunk: Uint8Array): string {
    if (this.#decoder === null && isAscii(chunk)) {
      this.#hasRead ||= chunk.length > 0
      return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')
    }
    // U+FEFF is a byte order mark at the stream's start, and a character anywhere else.
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: this.#hasRead })
    return this.#decoder.decode(chunk, { stream: true })
  }

  /** Throws OutboundError `protocol` if the unfinished event is too long. */
  check(): void {
    if (this.#broken) throw new OutboundError('protocol', true, this.#broken)
  }
}

/**
 * True if an unfinished event's data are complete. A truncated JSON object is never valid JSON, so it does not count as
 * whole.
 */
function isWhole(data: string): boolean {
  if (data === '[DONE]') return true
  if (!data.trimEnd().endsWith('}')) return false
  try {
    parseJson(data)
    return true
  } catch {
    return false
  }
}
