/** Asks a language model with POST /v1/messages, for a whole response or an event stream. */
import type { Llm } from '../../domain/ports/llm.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { json, readAnswer, type VendorHttp } from '../wire/http.ts'
import { isObject } from '../wire/json.ts'
import { readLlmEvents } from '../wire/llm-events.ts'
import { MessageTurn, readMessage } from './answer.ts'
import { messagesBody } from './request.ts'
import { lacks } from './settings.ts'
import { wire } from './wire.ts'

const path = '/v1/messages'

export function createLlm(http: VendorHttp, apiKey: string | null, limits: OutboundLimits): Llm {
  return {
    lacks,
    async respond(request, signal) {
      const body = await http.post(path, json(messagesBody(request)), signal)
      signal.answeredBy?.(body['model'])
      return readMessage(body)
    },
    async *stream(request, signal) {
      const body = json({ ...messagesBody(request), stream: true })
      const answer = await http.stream(path, body, limits.answerBytesMax, signal)
      const parse = (data: string) => {
        const event = readAnswer(data, wire, apiKey)
        if (isObject(event['message'])) signal.answeredBy?.(event['message']['model'])
        return event
      }
      yield* readLlmEvents(answer, new MessageTurn(), parse, limits.eventCharsMax)
    },
  }
}
