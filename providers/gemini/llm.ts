/** Asks a language model with generateContent, or with streamGenerateContent for server-sent events. */
import type { Llm } from '../../domain/ports/llm.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { json, readAnswer, type VendorHttp } from '../wire/http.ts'
import { readLlmEvents } from '../wire/llm-events.ts'
import { ContentTurn, readContent } from './answer.ts'
import { contentBody, lacks, modelPath } from './request.ts'
import { wire } from './wire.ts'

export function createLlm(http: VendorHttp, apiKey: string | null, limits: OutboundLimits): Llm {
  return {
    lacks,
    async respond(request, signal) {
      const path = modelPath(request.model, 'generateContent')
      const body = await http.post(path, json(contentBody(request)), signal)
      signal.answeredBy?.(body['modelVersion'])
      return readContent(body)
    },
    async *stream(request, signal) {
      const path = modelPath(request.model, 'streamGenerateContent')
      const answer = await http.stream(path, json(contentBody(request)), limits.answerBytesMax, signal)
      const parse = (data: string) => {
        const piece = readAnswer(data, wire, apiKey)
        signal.answeredBy?.(piece['modelVersion'])
        return piece
      }
      yield* readLlmEvents(answer, new ContentTurn(), parse, limits.eventCharsMax)
    },
  }
}
