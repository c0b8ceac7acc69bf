/**
 * Chat completions for providers that do not speak the protocol: the client's body as a request of the domain, and the domain's answer as
 * choices. What only changes bookkeeping is left out; what changes the answer and cannot be said in the domain's words is named and
 * refused, never dropped.
 */
import { ProviderError } from '../ports/provider-error.ts'
import { outputTokensUnsaid } from './chat-tokens.ts'
import type {
  Llm,
  LlmItem,
  LlmRequest,
  LlmTool,
  LlmUsage,
  PassThrough,
  PassThroughAnswer,
  PassThroughPart,
  PassThroughRequest,
  PassThroughUsage,
  ResponseFormat,
  StopReason,
  ToolChoice,
} from './llm.ts'

/** `field` is a JSON pointer into the body. */
export class Untranslatable extends Error {
  readonly field: string

  constructor(field: string) {
    super(`${field} cannot be translated`)
    this.field = field
  }
}

/** The same port over a provider that has none of its own. */
export function translated(llm: Llm): PassThrough {
  return {
    async complete(request, signal) {
      const { text, calls, stopReason, usage } = await llm.respond(requestOf(request), signal)
      if (text === '' && calls.length === 0) refuseNothing(stopReason, usage)
      const message = {
        role: 'assistant',
        content: text === '' ? null : text,
        ...(calls.length > 0 && { tool_calls: calls.map(wireCall) }),
      }
      return answerOf([{ index: 0, message, logprobs: null, finish_reason: finishOf[stopReason] }], usage)
    },
    async *stream(request, signal) {
      let begun = false
      for await (const event of llm.stream(requestOf(request), signal)) {
        if (event.type === 'end') {
          if (!begun) refuseNothing(event.stopReason, event.usage)
          yield chunk(begun ? {} : opening, 0, finishOf[event.stopReason])
          yield { content: [], usage: usageOf(event.usage), characters: 0 }
          return
        }
        if (!begun) yield chunk(opening)
        begun = true
        if (event.type === 'text') yield chunk({ content: event.delta }, event.delta.length)
        else if (event.type === 'call')
          yield chunk({ tool_calls: [wireCall({ ...event, arguments: '' }, event.index)] })
        else
          yield chunk(
            { tool_calls: [{ index: event.index, function: { arguments: event.delta } }] },
            event.delta.length,
          )
      }
      throw new ProviderError('protocol', { sent: true, cause: new Error('the stream ended without its end') })
    },
  }
}

const opening = { role: 'assistant', content: '' }
const finishOf: Record<StopReason, string> = { stop: 'stop', max_output_tokens: 'length', tool_call: 'tool_calls' }

function chunk(delta: object, characters = 0, finish: string | null = null): PassThroughPart {
  return { content: [{ index: 0, delta, finish_reason: finish }], usage: null, characters }
}

function wireCall(
  { callId, name, arguments: text }: { callId: string; name: string; arguments: string },
  index?: number,
) {
  return { ...(index !== undefined && { index }), id: callId, type: 'function', function: { name, arguments: text } }
}

function answerOf(choices: readonly unknown[], usage: LlmUsage): PassThroughAnswer {
  return { content: choices, usage: usageOf(usage) }
}

/** Cached and reasoning tokens count inside the prompt and the completion here. */
function usageOf(counts: LlmUsage): PassThroughUsage {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens } = counts
  const prompt = inputTokens + cachedInputTokens
  const completion = outputTokens + reasoningTokens
  const wire = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cachedInputTokens },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }
  return { raw: wire, counts }
}

/** As in a response of the router surface: who spent no token on it has not answered. */
function refuseNothing(stopReason: StopReason, usage: LlmUsage): void {
  if (stopReason !== 'max_output_tokens' && usage.outputTokens + usage.reasoningTokens === 0)
    throw new ProviderError('empty', { sent: true })
}

type Body = PassThroughRequest['body']
type Fields = Record<string, unknown>

/** They change the answer, and nothing of the domain says them. */
const refused: Readonly<Record<string, (value: unknown) => boolean>> = {
  n: (value) => value !== 1,
  logprobs: (value) => value !== false,
  top_logprobs: () => true,
  logit_bias: (value) => !isFields(value) || Object.keys(value).length > 0,
  audio: () => true,
  modalities: (value) => !Array.isArray(value) || value.some((each) => each !== 'text'),
  stop: () => true,
  frequency_penalty: (value) => value !== 0,
  presence_penalty: (value) => value !== 0,
  functions: () => true,
  function_call: () => true,
  web_search_options: () => true,
}

function requestOf({ model, body, maxOutputTokens: maxTokens }: PassThroughRequest): LlmRequest {
  try {
    return translate(model, body, maxTokens)
  } catch (cause) {
    if (cause instanceof Untranslatable) throw new ProviderError('unsupported', { sent: false, cause })
    throw cause
  }
}

/** Throws Untranslatable. */
function translate(model: string, body: Body, maxTokens = outputTokensUnsaid): LlmRequest {
  for (const field in body) {
    const value = body[field]
    if (value !== null && refused[field]?.(value)) throw new Untranslatable(`/${field}`)
  }
  const tools = listOf(body['tools']).map(toolOf)
  const request: LlmRequest = { model, items: itemsOf(body), maxOutputTokens: maxTokens, tools }
  const { temperature, top_p: topP, reasoning_effort: reasoningEffort } = body
  if (typeof temperature === 'number') request.temperature = temperature
  if (typeof topP === 'number') request.topP = topP
  if (typeof reasoningEffort === 'string') request.reasoningEffort = reasoningEffort
  const toolChoice = toolChoiceOf(body['tool_choice'])
  if (toolChoice !== undefined) request.toolChoice = toolChoice
  const responseFormat = responseFormatOf(body['response_format'])
  if (responseFormat !== undefined) request.responseFormat = responseFormat
  return request
}

function itemsOf(body: Body): LlmItem[] {
  const items: LlmItem[] = []
  for (const [index, message] of listOf(body['messages']).entries()) {
    const pointer = `/messages/${index}`
    if (!isFields(message)) throw new Untranslatable(pointer)
    items.push(...itemsOfMessage(message, pointer))
  }
  return items
}

function itemsOfMessage(message: Fields, pointer: string): LlmItem[] {
  const text = textOf(message['content'], `${pointer}/content`)
  switch (message['role']) {
    case 'system':
    case 'developer':
      return [{ type: 'message', role: 'system', text }]
    case 'user':
      return [{ type: 'message', role: 'user', text }]
    case 'tool':
      return [
        { type: 'function_result', callId: wordOf(message['tool_call_id'], `${pointer}/tool_call_id`), result: text },
      ]
    case 'assistant': {
      const calls = listOf(message['tool_calls']).map((call, i) => callOf(call, `${pointer}/tool_calls/${i}`))
      return text === '' ? calls : [{ type: 'message', role: 'assistant', text }, ...calls]
    }
    default:
      throw new Untranslatable(`${pointer}/role`)
  }
}

/** A string, parts of text, or nothing (an assistant's message that only calls). */
function textOf(content: unknown, pointer: string): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (!Array.isArray(content)) throw new Untranslatable(pointer)
  return (content as unknown[]).map((part, index) => partText(part, `${pointer}/${index}`)).join('')
}

function partText(part: unknown, pointer: string): string {
  if (typeof part === 'string') return part
  if (isFields(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text']
  throw new Untranslatable(pointer)
}

function callOf(call: unknown, pointer: string): LlmItem {
  const made = isFields(call) && isFields(call['function']) ? call['function'] : null
  if (!isFields(call) || made === null) throw new Untranslatable(pointer)
  const text = typeof made['arguments'] === 'string' ? made['arguments'] : ''
  const name = wordOf(made['name'], `${pointer}/function/name`)
  return { type: 'function_call', callId: wordOf(call['id'], `${pointer}/id`), name, arguments: text }
}

function toolOf(tool: unknown, index: number): LlmTool {
  const made = isFields(tool) && isFields(tool['function']) ? tool['function'] : null
  if (made === null) throw new Untranslatable(`/tools/${index}`)
  const { description, parameters } = made
  return {
    name: wordOf(made['name'], `/tools/${index}/function/name`),
    ...(typeof description === 'string' && { description }),
    ...(isFields(parameters) && { parameters }),
  }
}

function toolChoiceOf(choice: unknown): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  const made = isFields(choice) && isFields(choice['function']) ? choice['function'] : null
  if (made === null) throw new Untranslatable('/tool_choice')
  return { name: wordOf(made['name'], '/tool_choice/function/name') }
}

function responseFormatOf(format: unknown): ResponseFormat | undefined {
  if (format === undefined || format === null) return undefined
  const type = isFields(format) ? format['type'] : null
  if (type === 'text') return undefined
  if (type === 'json_object') return { name: 'object', schema: { type: 'object' } }
  const made = isFields(format) && type === 'json_schema' ? format['json_schema'] : null
  if (!isFields(made) || !isFields(made['schema'])) throw new Untranslatable('/response_format')
  const strict = made['strict']
  const name = wordOf(made['name'], '/response_format/json_schema/name')
  return { name, schema: made['schema'], ...(typeof strict === 'boolean' && { strict }) }
}

function wordOf(value: unknown, pointer: string): string {
  if (typeof value !== 'string') throw new Untranslatable(pointer)
  return value
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
