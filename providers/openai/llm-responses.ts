/**
 * Asks a language model with POST /responses, for a whole response or an event stream. OpenAI recommends this endpoint
 * for its models.
 */
import { argumentsText } from '../../domain/llm/tool-arguments.ts'
import type { Llm, LlmItem, LlmRequest, LlmTool } from '../../domain/ports/llm.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import { protocolError, toProviderError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import type { LlmOptions } from './llm.ts'
import { ResponseTurn, readResponse } from './responses-answer.ts'
import { readObject } from './wire.ts'

export function createResponses(http: VendorHttp, { apiKey, limits }: Pick<LlmOptions, 'apiKey' | 'limits'>): Llm {
  return {
    async respond(request, signal) {
      const body = await http.post(path, json(bodyOf(request)), signal)
      signal.answeredBy?.(body['model'])
      return readResponse(body)
    },
    async *stream(request, signal) {
      const body = json({ ...bodyOf(request), stream: true })
      const answer = await http.stream(path, body, limits.answerBytesMax, signal)
      const turn = new ResponseTurn(apiKey)
      try {
        for await (const { data } of readEventStream(answer.body, limits.eventCharsMax)) {
          const event = readObject(data, apiKey)
          if (isObject(event['response'])) signal.answeredBy?.(event['response']['model'])
          yield* turn.read(event)
          if (!turn.isOver) continue
          answer.body.discard()
          return
        }
      } catch (error) {
        throw toProviderError(error)
      }
      throw protocolError('ended without a terminal event')
    },
  }
}

const path = '/responses'

function bodyOf(request: LlmRequest): JsonObject {
  const { temperature, topP, reasoningEffort, responseFormat, toolChoice, tools } = request
  const body: JsonObject = {
    model: request.model,
    input: request.items.map(itemOf),
    max_output_tokens: request.maxOutputTokens,
    // Without `store: false` the vendor would store the client's conversation for 30 days.
    store: false,
  }
  if (temperature !== undefined) body['temperature'] = temperature
  if (topP !== undefined) body['top_p'] = topP
  if (reasoningEffort !== undefined) body['reasoning'] = { effort: reasoningEffort }
  if (responseFormat) body['text'] = { format: { type: 'json_schema', ...responseFormat } }
  if (tools.length > 0) body['tools'] = tools.map(toolOf)
  if (tools.length > 0 && toolChoice)
    body['tool_choice'] = typeof toolChoice === 'string' ? toolChoice : { type: 'function', name: toolChoice.name }
  return body
}

function itemOf(item: LlmItem): JsonObject {
  if (item.type === 'message') return { type: 'message', role: item.role, content: item.text }
  if (item.type === 'function_result')
    return { type: 'function_call_output', call_id: item.callId, output: item.result }
  return { type: 'function_call', call_id: item.callId, name: item.name, arguments: argumentsText(item.arguments) }
}

/**
 * Converts a tool. Unlike in chat completions, a schema is strict by default here, and strict mode refuses many common
 * schema keywords. So strict mode is turned off.
 */
const toolOf = ({ name, description, parameters }: LlmTool): JsonObject => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  parameters: parameters ?? { type: 'object', properties: {} },
  strict: false,
})
