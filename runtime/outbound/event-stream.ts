import { isAscii } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import { parseJson } from '../engine/json.ts'
import { OutboundError } from './outbound-error.ts'

export type StreamEvent = { event?: string; data: string }

/**
 * Reads server-sent events (WHATWG HTML §9.2) from the chunks of an answer. The standard drops a last event without its
 * closing blank line. Providers forget that line, so the event counts if its data are whole. `eventCharsMax` bounds the
 * text that is kept for one unfinished event; a longer one is OutboundError `protocol`.
 */
export async function* readEventStream(
  chunks: AsyncIterable<Uint8Array>,
  eventCharsMax: number,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = new EventReader(eventCharsMax)
  for await (const chunk of chunks) {
    yield* reader.read(chunk)
    reader.check()
  }
  yield* reader.end()
}

/** The same for code that iterates the chunks itself, because a generator for each chunk costs too much. */
export class EventReader {
  /** Made for the first chunk that is not ASCII, because making one takes longer than reading most streams. */
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
        // Unknown fields and invalid retry lines must be ignored (same standard).
        if (error.type === 'max-buffer-size-exceeded') this.#broken = error
      },
    })
  }

  /** The events that this chunk finished. `check` must follow. */
  read(chunk: Uint8Array): StreamEvent[] {
    this.#parser.feed(this.#textOf(chunk))
    const ready = this.#ready
    this.#ready = []
    return ready
  }

  /** The event that the stream ended in, if its data are whole; to be called once, after the last chunk. */
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
    // U+FEFF is a byte order mark at the start of a stream, and a character anywhere else.
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: this.#hasRead })
    return this.#decoder.decode(chunk, { stream: true })
  }

  /** Throws OutboundError `protocol` when the unfinished event is too long. */
  check(): void {
    if (this.#broken) throw new OutboundError('protocol', true, this.#broken)
  }
}

/** No part of a JSON object is a JSON object, so an event that was cut off is not taken for a whole one. */
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
