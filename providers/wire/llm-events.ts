/**
 * Reads a streamed LLM response: parses server-sent events and yields the domain's `LlmEvent` objects, up to the
 * vendor's last event.
 */
import type { LlmEvent } from '../../domain/ports/llm.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import { isCut, toProviderError } from './failures.ts'
import { type JsonObject } from './json.ts'

/** Reads one response from a vendor's events. Both methods may throw ProviderError. */
export interface AnswerReader {
  read(frame: JsonObject): Iterable<LlmEvent>
  /** True if the vendor's last event has arrived. */
  readonly ended: boolean
  /** True if the stop reason was read, so the text and the tool calls are whole. */
  readonly hasFinished: boolean
  /** Makes the domain's last event. Called even if the response stopped before the vendor's last event. */
  end(): LlmEvent
}

/** Yields the response's events. Rejects with ProviderError. `parse` converts one event's data to a JSON object. */
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
    if (!(reader.hasFinished && isCut(error))) throw toProviderError(error)
  }
  yield reader.end()
}
