import { createParser } from 'eventsource-parser'
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
  const ready: StreamEvent[] = []
  let broken: Error | null = null
  const parser = createParser({
    maxBufferSize: eventCharsMax,
    onEvent: ({ event, data }) => ready.push(event === undefined ? { data } : { event, data }),
    onError: (error) => {
      // Unknown fields and odd retry lines are to be ignored (same standard).
      if (error.type === 'max-buffer-size-exceeded') broken = error
    },
  })
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    for (const event of ready) yield event
    ready.length = 0
    if (broken) throw new OutboundError('protocol', true, broken)
  }
}
