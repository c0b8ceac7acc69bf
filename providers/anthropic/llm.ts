/** POST /v1/messages, whole and as an event stream. */
import type { Llm } from '../../domain/llm/llm.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { toProviderError } from '../wire/failures.ts'
import { json, readAnswer, type Wire } from '../wire/http.ts'
import { MessageTurn, readMessage } from './answer.ts'
import { dialect } from './dialect.ts'
import { messagesBody } from './request.ts'

const path = '/v1/messages'

export function createLlm(wire: Wire, apiKey: string | null, limits: OutboundLimits): Llm {
  return {
    async respond(request, signal) {
      return readMessage(await wire.call(path, json(messagesBody(request)), signal))
    },
    async *stream(request, signal) {
      const body = json({ ...messagesBody(request), stream: true })
      const answer = await wire.stream(path, body, limits.answerBytesMax, signal)
      const turn = new MessageTurn()
      try {
        for await (const { data } of readEventStream(answer.body, limits.eventCharsMax)) {
          for (const event of turn.read(readAnswer(data, dialect, apiKey))) yield event
          if (!turn.ended) continue
          answer.body.discard()
          break
        }
      } catch (error) {
        throw toProviderError(error)
      }
      yield turn.end()
    },
  }
}
