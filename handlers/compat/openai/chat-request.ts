/** Translates a chat body to a domain request, for providers that do not speak chat completions. */

import type {
  Llm,
  LlmItem,
  LlmRequest,
  LlmTool,
  PassThroughRequest,
  ResponseFormat,
  ToolChoice,
} from '../../../domain/ports/llm.ts'
import type { Capability } from '../../../domain/ports/model.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import { refusedIn, settingsFor } from './chat-settings.ts'
import { outputTokensDefault } from './chat-tokens.ts'

/** A field cannot be translated to the domain. `field` is a JSON pointer into the body. */
export class Untranslatable extends Error {
  readonly field: string

  constructor(field: string) {
    super(`${field} cannot be translated`)
    this.field = field
  }
}

/** Returns the model capabilities that a body needs. */
export function needsOf({ tools, response_format: format, reasoning_effort: effort }: Body): Capability[] {
  const needs: Capability[] = []
  if (Array.isArray(tools) && tools.length > 0) needs.push('tools')
  if (isStructured(format)) needs.push('structured_output')
  if (effort !== undefined && effort !== null) needs.push('reasoning')
  return needs
}

function isStructured(format: unknown): boolean {
  const type = typeof format === 'object' && format !== null && 'type' in format ? format.type : null
  return type === 'json_schema' || type === 'json_object'
}

type Body = PassThroughRequest['body']
type Fields = Record<string, unknown>

/** Translates a body. Throws ProviderError `unsupported`, with an Untranslatable as its cause. */
export function llmRequestOf({ model, body, maxOutputTokens }: PassThroughRequest, llm: Llm): LlmRequest {
  try {
    return translate(model, body, llm, maxOutputTokens)
  } catch (cause) {
    if (cause instanceof Untranslatable) throw new ProviderError('unsupported', { sent: false, cause })
    throw cause
  }
}

/** Translates the whole body. Throws Untranslatable if a field has no equivalent. */
function translate(model: string, body: Body, llm: Llm, maxOutputTokens = outputTokensDefault): LlmRequest {
  const refused = refusedIn(body)
  if (refused !== undefined) throw new Untranslatable(`/${refused}`)
  const tools = listOf(body['tools']).map(toolOf)
  const request: LlmRequest = { model, items: itemsOf(body), maxOutputTokens, tools, ...settingsFor(model, body, llm) }
  const { reasoning_effort: reasoningEffort } = body
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
  if (message['role'] === 'assistant') return itemsOfAssistant(message, pointer)
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
    default:
      throw new Untranslatable(`${pointer}/role`)
  }
}

/**
 * Translates an assistant's message. A refusal is a content part or a separate field, and the model reads it as the
 * assistant's text.
 */
function itemsOfAssistant({ content, refusal, tool_calls: made }: Fields, pointer: string): LlmItem[] {
  const parts: unknown[] = Array.isArray(content) ? content : [content]
  const said = parts.map((part) => (refusalIn(part) === null ? part : ''))
  const refused = [...parts, { type: 'refusal', refusal }].map(refusalIn)
  const texts = [textOf(Array.isArray(content) ? said : content, `${pointer}/content`), ...refused]
  const text = texts.filter(Boolean).join('\n')
  const calls = listOf(made).map((call, i) => callOf(call, `${pointer}/tool_calls/${i}`))
  return text === '' ? calls : [{ type: 'message', role: 'assistant', text }, ...calls]
}

function refusalIn(part: unknown): string | null {
  return isFields(part) && part['type'] === 'refusal' && typeof part['refusal'] === 'string' ? part['refusal'] : null
}

/** Reads the content: a string, a list of text parts, or nothing (an assistant's message with only calls). */
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
  const text = argumentsOf(made['arguments'])
  const name = wordOf(made['name'], `${pointer}/function/name`)
  return { type: 'function_call', callId: wordOf(call['id'], `${pointer}/id`), name, arguments: text }
}

/**
 * Reads a function call's arguments as text. Some clients send an object. Others send nothing if the function has no
 * parameters.
 */
function argumentsOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
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
