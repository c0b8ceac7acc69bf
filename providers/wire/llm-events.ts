/** An LLM's answer as it is streamed: server-sent events in, events of the port out, until the vendor's own mark. */
import type { LlmEvent } from '../../domain/llm/llm.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import { toProviderError } from './failures.ts'
import { type JsonObject } from './json.ts'

/** One answer in a vendor's frames. Both methods may throw ProviderError. */
export interface StreamedTurn {
  read(frame: JsonObject): Iterable<LlmEvent>
  /** The vendor's terminal mark has come. */
  readonly ended: boolean
  /** The last event; for an answer that stopped before its mark, what that means. */
  end(): LlmEvent
}

/** Rejects with ProviderError. `parse` turns the data of one event into its frame. */
export async function* readTurn(
  answer: StreamedAnswer,
  turn: StreamedTurn,
  parse: (data: string) => JsonObject,
  eventCharsMax: number,
): AsyncGenerator<LlmEvent, void, undefined> {
  try {
    for await (const { data } of readEventStream(answer.body, eventCharsMax)) {
      for (const event of turn.read(parse(data))) yield event
      if (!turn.ended) continue
      answer.body.discard()
      break
    }
  } catch (error) {
    throw toProviderError(error)
  }
  yield turn.end()
}
