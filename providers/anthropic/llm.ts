/** POST /v1/messages, whole and as an event stream. */
import type { Llm } from '../../domain/llm/llm.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { json, readAnswer, type Wire } from '../wire/http.ts'
import { readTurn } from '../wire/turn-events.ts'
import { MessageTurn, readMessage } from './answer.ts'
import { messagesBody } from './request.ts'
import { dialect } from './wire.ts'

const path = '/v1/messages'

export function createLlm(wire: Wire, apiKey: string | null, limits: OutboundLimits): Llm {
  return {
    async respond(request, signal) {
      return readMessage(await wire.call(path, json(messagesBody(request)), signal))
    },
    async *stream(request, signal) {
      const body = json({ ...messagesBody(request), stream: true })
      const answer = await wire.stream(path, body, limits.answerBytesMax, signal)
      const parse = (data: string) => readAnswer(data, dialect, apiKey)
      yield* readTurn(answer, new MessageTurn(), parse, limits.eventCharsMax)
    },
  }
}
