/**
 * Translates the body of OpenAI's Responses to a domain request. The server stores nothing and has no tools, so a field
 * or item that needs a store or a hosted tool is refused by name. The message also says how to change the request,
 * because OpenAI's clients show only the message.
 */
import type { ItemsInput } from '../../../domain/llm/items.ts'
import type { LlmItem, LlmTool, ResponseFormat, ToolChoice } from '../../../domain/ports/llm.ts'
import type {
  CompatResponseFormat,
  CompatResponseInputItem,
  CompatResponseRequest,
  CompatResponseTool,
} from '../../../generated/compat/types.ts'
import { Refusal } from '../../../runtime/engine/handler.ts'
import { outputTokensDefault } from './chat-tokens.ts'

type Request = ItemsInput['request']

const resend = 'This server stores no responses: send the whole history in input, the results of functions included.'

/** Fields to refuse, with their messages. They are accepted only if null, false or absent. */
const refusedFields: Readonly<Record<string, string>> = {
  previous_response_id: `previous_response_id is not supported. ${resend}`,
  conversation: `conversation is not supported. ${resend}`,
  prompt: 'prompt is not supported: this server stores no prompts. Send the text in instructions and input.',
  background: 'background is not supported. Leave it out and wait for the answer, or set stream.',
}

/** Translates the body. Throws the refusal invalid_parameter, naming the field. */
export function requestOfResponse(body: CompatResponseRequest): Request {
  for (const [field, message] of Object.entries(refusedFields))
    if (body[field] !== undefined && body[field] !== null && body[field] !== false) throw refusal(`/${field}`, message)
  const tools = toolsOf(body.tools ?? [])
  const request: Request = {
    items: itemsOf(body),
    maxOutputTokens: body.max_output_tokens ?? outputTokensDefault,
    tools,
  }
  if (body.tool_choice) request.toolChoice = toolChoiceOf(body.tool_choice, tools)
  const format = formatOf(body.text?.format)
  if (format) request.responseFormat = format
  if (typeof body.temperature === 'number') request.temperature = body.temperature
  if (typeof body.top_p === 'number') request.topP = body.top_p
  if (body.reasoning?.effort) request.reasoningEffort = body.reasoning.effort
  return request
}

function itemsOf({ instructions, input }: CompatResponseRequest): LlmItem[] {
  const items: LlmItem[] = instructions ? [{ type: 'message', role: 'system', text: instructions }] : []
  if (typeof input === 'string') return [...items, { type: 'message', role: 'user', text: input }]
  for (const [index, item] of input.entries()) items.push(...itemOf(item, `/input/${index}`))
  return items
}

function itemOf(item: CompatResponseInputItem, pointer: string): LlmItem[] {
  switch (item.type ?? 'message') {
    case 'message':
      return messageOf(item, pointer)
    case 'function_call': {
      const [callId, name, text] = (['call_id', 'name', 'arguments'] as const).map((field) =>
        given(item, field, pointer),
      )
      return [{ type: 'function_call', callId: callId ?? '', name: name ?? '', arguments: text ?? '' }]
    }
    case 'function_call_output': {
      const result = textOf(item['output'] ?? '', `${pointer}/output`)
      return [{ type: 'function_result', callId: given(item, 'call_id', pointer), result }]
    }
    // Reasoning is left out, because another vendor's reasoning means nothing to the model.
    case 'reasoning':
      return []
    case 'item_reference':
      throw refusal(
        `${pointer}/type`,
        'item_reference is not supported: this server stores no items. Send the item itself: clients do where store is false ' +
          '(AI SDK: providerOptions: { openai: { store: false } }).',
      )
    default:
      throw refusal(
        `${pointer}/type`,
        `Items of type ${quoted(item.type)} are not supported. Send message, function_call and function_call_output.`,
      )
  }
}

const roles: Readonly<Record<string, 'system' | 'user' | 'assistant'>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
}

function messageOf(item: CompatResponseInputItem, pointer: string): LlmItem[] {
  const role = Object.hasOwn(roles, item.role ?? '') ? roles[item.role ?? ''] : undefined
  if (!role) throw refusal(`${pointer}/role`, 'The role of a message is system, developer, user or assistant.')
  const text = textOf(item['content'], `${pointer}/content`)
  // An assistant's message without text only accompanies calls. It is left out, because vendors refuse an empty
  // message.
  return text === '' && role === 'assistant' ? [] : [{ type: 'message', role, text }]
}

/** Reads text from a string or from parts. */
function textOf(content: unknown, pointer: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw refusal(pointer, 'Content is a string or a list of parts of type input_text.')
  return (content as unknown[]).map((part, index) => partText(part, `${pointer}/${index}`)).join('')
}

const textFields: Readonly<Record<string, string>> = {
  input_text: 'text',
  output_text: 'text',
  text: 'text',
  refusal: 'refusal',
}

function partText(part: unknown, pointer: string): string {
  const fields = typeof part === 'object' && part !== null ? (part as Record<string, unknown>) : {}
  const type = fields['type']
  const field = typeof type === 'string' && Object.hasOwn(textFields, type) ? textFields[type] : undefined
  if (field === undefined)
    throw refusal(
      `${pointer}/type`,
      `Parts of type ${quoted(type)} are not supported: this server takes text. Send parts of type input_text.`,
    )
  const text = fields[field]
  if (typeof text !== 'string') throw refusal(`${pointer}/${field}`, `${field} must be a string.`)
  return text
}

function toolsOf(tools: readonly CompatResponseTool[]): LlmTool[] {
  const names = new Set<string>()
  return tools.map(({ type, name, description, parameters }, index) => {
    const pointer = `/tools/${index}`
    if (type !== 'function')
      throw refusal(
        `${pointer}/type`,
        `Tools of type ${quoted(type)} are not supported: this server runs no tools. Send tools of type function.`,
      )
    if (name === undefined) throw refusal(`${pointer}/name`, 'A function needs a name.')
    if (names.has(name)) throw refusal(`${pointer}/name`, 'Two functions have the same name.')
    names.add(name)
    return { name, ...(description && { description }), ...(parameters && { parameters }) }
  })
}

function toolChoiceOf(
  choice: NonNullable<CompatResponseRequest['tool_choice']>,
  tools: readonly LlmTool[],
): ToolChoice {
  if (typeof choice === 'string') {
    if (choice === 'required' && tools.length === 0)
      throw refusal('/tool_choice', 'tool_choice is required, but there are no tools.')
    return choice
  }
  const { type, name } = choice
  if (type !== 'function' || name === undefined)
    throw refusal(
      '/tool_choice',
      `A tool_choice of type ${quoted(type)} is not supported. Send auto, none, required, or a function with its name.`,
    )
  if (!tools.some((tool) => tool.name === name))
    throw refusal('/tool_choice/name', 'tool_choice names a function that is not in tools.')
  return { name }
}

function formatOf(format: CompatResponseFormat | null | undefined): ResponseFormat | null {
  if (!format || format.type === 'text') return null
  if (format.type === 'json_object') return { name: 'object', schema: { type: 'object' } }
  const { name, schema, strict } = format
  if (name === undefined || schema === undefined)
    throw refusal('/text/format', 'A format of type json_schema needs a name and a schema.')
  return { name, schema, ...(typeof strict === 'boolean' && { strict }) }
}

function given(item: CompatResponseInputItem, field: 'call_id' | 'name' | 'arguments', pointer: string): string {
  const value = item[field]
  if (value === undefined) throw refusal(`${pointer}/${field}`, `An item of type ${item.type ?? ''} needs ${field}.`)
  return value
}

/**
 * Returns an item's type for an error message. The client's text is repeated only if it looks like a type's name,
 * because any other text might be content.
 */
function quoted(type: unknown): string {
  return typeof type === 'string' && /^[a-z_]{1,40}$/.test(type) ? type : 'this kind'
}

function refusal(param: string, message: string): Refusal {
  return new Refusal('invalid_parameter', { param, message })
}
