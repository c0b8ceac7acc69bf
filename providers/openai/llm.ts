/** Asks a language model with POST /chat/completions, for a whole response or an event stream. */
import { argumentsText } from '../../domain/llm/tool-arguments.ts'
import type { Llm, LlmAnswer, LlmItem, LlmRequest, LlmTool, ToolChoice } from '../../domain/ports/llm.ts'
import { readEventStream } from '../../runtime/outbound/event-stream.ts'
import type { OutboundLimits } from '../../runtime/outbound/limits.ts'
import type { MaxTokensField } from '../vendors/vendors.ts'
import { isCut, toProviderError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { type JsonObject } from '../wire/json.ts'
import { ChatTurn, readCompletion } from './chat-answer.ts'
import { readObject } from './wire.ts'

export type LlmOptions = {
  /** The field for the token limit. If null, the model's name decides. */
  maxTokensField: MaxTokensField | null
  /** False if the server always reports usage and refuses the request field that asks for usage. */
  asksForUsage: boolean
  apiKey: string | null
  limits: OutboundLimits
}

export function createLlm(http: VendorHttp, options: LlmOptions): Llm {
  return {
    async respond(request, signal): Promise<LlmAnswer> {
      const body = await http.post(chatPath, json(chatBody(request, options)), signal)
      signal.answeredBy?.(body['model'])
      return readCompletion(body)
    },
    async *stream(request, signal) {
      const body = { ...chatBody(request, options), stream: true, ...(options.asksForUsage && usageOption) }
      const answer = await http.stream(chatPath, json(body), options.limits.answerBytesMax, signal)
      const turn = new ChatTurn()
      try {
        for await (const { data } of readEventStream(answer.body, options.limits.eventCharsMax)) {
          if (data === '[DONE]') {
            answer.body.discard()
            break
          }
          const chunk = readObject(data, options.apiKey)
          signal.answeredBy?.(chunk['model'])
          for (const event of turn.read(chunk)) yield event
        }
      } catch (error) {
        if (!(turn.hasFinished && isCut(error))) throw toProviderError(error)
      }
      yield turn.end()
    },
  }
}

export const chatPath = '/chat/completions'

/** Returns the server's field name for the token limit, for this model. */
export function limitField(model: string, { maxTokensField }: LlmOptions): MaxTokensField {
  return maxTokensField ?? (reasoningFamily.test(model) ? 'max_completion_tokens' : 'max_tokens')
}

const usageOption = { stream_options: { include_usage: true } }
const reasoningFamily = /^(gpt-5|o\d)/

function chatBody(request: LlmRequest, options: LlmOptions): JsonObject {
  const { temperature, topP, reasoningEffort, responseFormat, toolChoice, tools } = request
  const body: JsonObject = {
    model: request.model,
    messages: messages(request.items),
    [limitField(request.model, options)]: request.maxOutputTokens,
  }
  if (temperature !== undefined) body['temperature'] = temperature
  if (topP !== undefined) body['top_p'] = topP
  if (reasoningEffort !== undefined) body['reasoning_effort'] = reasoningEffort
  if (responseFormat) body['response_format'] = { type: 'json_schema', json_schema: responseFormat }
  // Several servers refuse an empty tool list, and a tool choice without tools.
  if (tools.length > 0) body['tools'] = tools.map(tool)
  if (tools.length > 0 && toolChoice) body['tool_choice'] = choice(toolChoice)
  return body
}

const tool = ({ name, description, parameters }: LlmTool) => ({
  type: 'function',
  function: { name, ...(description !== undefined && { description }), ...(parameters && { parameters }) },
})

const choice = (chosen: ToolChoice) =>
  typeof chosen === 'string' ? chosen : { type: 'function', function: { name: chosen.name } }

type Message = { role: string; content?: string; tool_calls?: object[]; tool_call_id?: string }

/**
 * Converts the items to messages. Function calls are added to the preceding assistant message, because servers refuse
 * the function results if one turn's function calls are in several messages.
 */
function messages(items: readonly LlmItem[]): Message[] {
  const list: Message[] = []
  for (const item of items) {
    if (item.type === 'message') list.push({ role: item.role, content: item.text })
    else if (item.type === 'function_result')
      list.push({ role: 'tool', tool_call_id: item.callId, content: item.result })
    else {
      const call = {
        id: item.callId,
        type: 'function',
        function: { name: item.name, arguments: argumentsText(item.arguments) },
      }
      const last = list.at(-1)
      if (last?.role === 'assistant') (last.tool_calls ??= []).push(call)
      else list.push({ role: 'assistant', tool_calls: [call] })
    }
  }
  return list
}
