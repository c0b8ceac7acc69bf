/** generateContent, and streamGenerateContent as server-sent events. */
import type { Llm } from '../../domain/llm/llm.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import { toProviderError } from '../wire/failures.ts'
import { json, readAnswer, type Wire } from '../wire/http.ts'
import { ContentTurn, readContent } from './answer.ts'
import { dialect } from './dialect.ts'
import { contentBody, modelPath } from './request.ts'

export function createLlm(wire: Wire, apiKey: string | null, limits: OutboundLimits): Llm {
  return {
    async respond(request, signal) {
      const path = modelPath(request.model, 'generateContent')
      return readContent(await wire.call(path, json(contentBody(request)), signal))
    },
    async *stream(request, signal) {
      const path = modelPath(request.model, 'streamGenerateContent')
      const answer = await wire.stream(path, json(contentBody(request)), limits.answerBytesMax, signal)
      const turn = new ContentTurn()
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
