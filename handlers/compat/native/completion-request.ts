/** Translates the messages and tools in a `/v1/complete` body to chat completions. Unknown fields stay as they are. */
import { argumentsText } from '../../../domain/llm/tool-arguments.ts'
import type {
  ChatMessage,
  CompleteBody,
  NativeHistoryCall,
  NativeMessage,
  NativeTool,
} from '../../../generated/compat/types.ts'
import { Refusal } from '../../../runtime/engine/handler.ts'
import { jsonText } from '../../json-text.ts'
import type { ChatInput } from '../openai/chat-translation.ts'

/**
 * Translates a `/v1/complete` body to a body for chat completions. If a field is absent in the request, it is absent in
 * the returned body too. Throws the refusal invalid_parameter.
 */
export function chatBody(body: CompleteBody): ChatInput['body'] {
  const { temperature, reasoningEffort, tools, toolChoice, parallelToolCalls } = body
  return {
    messages: messagesOf(body),
    ...(temperature !== undefined && { temperature }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(tools && { tools: tools.map((tool, index) => toolOf(tool, `/tools/${index}`)) }),
    ...(toolChoice !== undefined && { tool_choice: choiceOf(toolChoice) }),
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
  }
}

function messagesOf({ messages, prompt, systemPrompt }: CompleteBody): ChatMessage[] {
  if ((messages === undefined) === (prompt === undefined))
    throw new Refusal('invalid_parameter', {
      param: messages === undefined ? '/prompt' : '/messages',
      message: 'Exactly one of messages and prompt is needed.',
      hint: 'Send prompt for a single question, or messages for a history.',
    })
  const system = systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }]
  const history = messages?.map((message, index) => messageOf(message, `/messages/${index}`))
  return [...system, ...(history ?? [{ role: 'user', content: prompt }])]
}

function messageOf(message: NativeMessage, pointer: string): ChatMessage {
  const { toolCalls, toolCallId, isError, ...chat } = message
  if (toolCalls && toolCalls.length > 0)
    chat['tool_calls'] = toolCalls.map((call, index) => callOf(call, `${pointer}/toolCalls/${index}/args`))
  if (toolCallId !== undefined) chat['tool_call_id'] = toolCallId
  // Chat completions have no field for a failed tool call, so the text of the tool's result states the failure.
  if (isError && typeof chat['content'] === 'string') chat['content'] = `Error: ${chat['content']}`
  return chat
}

/**
 * Translates a tool call. Its arguments may be a blank text, because some servers write blank arguments for a call
 * without parameters.
 */
function callOf({ id, name, args }: NativeHistoryCall, pointer: string) {
  const text = typeof args === 'string' ? jsonText(argumentsText(args), pointer) : JSON.stringify(args ?? {})
  return { id, type: 'function', function: { name, arguments: text } }
}

function toolOf(tool: NativeTool, pointer: string) {
  const { name, description, parameters } = tool.function ?? tool
  if (name === undefined)
    throw new Refusal('invalid_parameter', {
      param: `${pointer}/name`,
      message: 'A tool needs a name.',
      hint: 'Send {name, description, parameters}, or the same as {type: function, function}.',
    })
  const made = { name, ...(description !== undefined && { description }), ...(parameters && { parameters }) }
  return { type: 'function', function: tool.function ?? made }
}

function choiceOf(choice: NonNullable<CompleteBody['toolChoice']>) {
  if (typeof choice === 'string') return choice
  const { function: made } = toolOf(choice, '/toolChoice')
  return { type: 'function', function: { name: made.name } }
}
