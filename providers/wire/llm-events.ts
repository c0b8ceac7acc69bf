/** A streamed LLM answer: reads server-sent events and yields the port's events, up to the vendor's terminal event. */
import type { LlmEvent } from '../../domain/ports/llm.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import { toProviderError } from './failures.ts'
import { type JsonObject } from './json.ts'

/** Reads one answer in a vendor's frames. Both methods may throw ProviderError. */
export interface AnswerReader {
  read(frame: JsonObject): Iterable<LlmEvent>
  /** True if the vendor's terminal event has come. */
  readonly ended: boolean
  /** Makes the last event, also if the answer stopped before its terminal event. */
  end(): LlmEvent
}

/** Yields the answer's events. Rejects with ProviderError. `parse` turns one event's data into its frame. */
export async function* readLlmEvents(
  answer: StreamedAnswer,
  reader: AnswerReader,
  parse: (data: string) => JsonObject,
  eventCharsMax: number,
): AsyncGenerator<LlmEvent, void, undefined> {
  try {
    for await (const { data } of readEventStream(answer.body, eventCharsMax)) {
      for (const event of reader.read(parse(data))) yield event
      if (!reader.ended) continue
      answer.body.discard()
      break
    }
  } catch (error) {
    throw toProviderError(error)
  }
  yield reader.end()
}
