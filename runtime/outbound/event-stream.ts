import { isAscii } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { createParser, type EventSourceParser } from 'eventsource-parser'
import { OutboundError } from './outbound-error.ts'

export type StreamEvent = { event?: string; data: string }

/**
 * Server-sent events (WHATWG HTML §9.2) out of an answer's chunks. An event that the server did not finish with a blank line is dropped, as the standard says.
 * `eventCharsMax` bounds what is held back for one unfinished event; beyond it, OutboundError `protocol`.
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

/** The same for who drives the chunks by himself, because a generator for each of them would cost too much. */
export class EventReader {
  /** From the first chunk on that is more than ASCII: to make one takes longer than to read most streams. */
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
        // Unknown fields and odd retry lines are to be ignored (same standard).
        if (error.type === 'max-buffer-size-exceeded') this.#broken = error
      },
    })
  }

  /** The events that this chunk finished. To be followed by `check`. */
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
    // A byte order mark is one at the start of a stream, and a character anywhere else.
    this.#decoder ??= new TextDecoder('utf-8', { ignoreBOM: this.#hasRead })
    return this.#decoder.decode(chunk, { stream: true })
  }

  /** Throws OutboundError `protocol` where what follows the events is beyond bounds. */
  check(): void {
    if (this.#broken) throw new OutboundError('protocol', true, this.#broken)
  }
}
