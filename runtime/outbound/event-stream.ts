import { isAscii } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import { OutboundError } from './outbound-error.ts'

export type StreamEvent = { event?: string; data: string }

/**
 * Reads server-sent events (WHATWG HTML §9.2) from the chunks of an answer. An event without its closing blank line is
 * dropped, as the standard says. `eventCharsMax` bounds the text that is kept for one unfinished event; a longer one is
 * OutboundError `protocol`.
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
