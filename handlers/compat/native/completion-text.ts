/**
 * Reads text, tool calls and token counts from the first choice of a chat completion, whole or chunk by chunk. The
 * fields come from the provider unchecked, so each type is tested before use.
 */
import { CallIndexes } from '../../../domain/llm/call-indexes.ts'
import { argumentsText } from '../../../domain/llm/tool-arguments.ts'
import type { NativeToolCall, NativeUsage } from '../../../generated/compat/types.ts'
import type { ChatAnswer } from '../openai/chat-translation.ts'

type Fields = Record<string, unknown>

export class CompletionText {
  text = ''
  usage: NativeUsage = { promptTokens: 0, completionTokens: 0 }
  readonly #indexes = new CallIndexes()
  readonly #calls: NativeToolCall[] = []

  readAnswer({ choices, usage }: ChatAnswer): void {
    this.#readUsage(usage)
    this.#readPiece(fieldsOf(choices[0])['message'])
  }

  /** Returns the text that this chunk added. */
  readChunk({ choices, usage }: ChatAnswer): string {
    this.#readUsage(usage)
    return this.#readPiece(fieldsOf(choices[0])['delta'])
  }

  toolCalls(): NativeToolCall[] {
    return this.#calls.map((call) => ({ ...call, args: argumentsText(call.args) }))
  }

  #readPiece(piece: unknown): string {
    const { content, refusal, tool_calls: calls } = fieldsOf(piece)
    const text = textOf(content) || textOf(refusal)
    this.text += text
    if (Array.isArray(calls)) for (const call of calls as unknown[]) this.#readCall(fieldsOf(call))
    return text
  }

  /** Adds a chunk's part of a tool call to the call. */
  #readCall(call: Fields): void {
    const { name, arguments: text } = fieldsOf(call['function'])
    const id = textOf(call['id'])
    const { index } = this.#indexes.read({ index: call['index'], id: id || undefined, isNamed: textOf(name) !== '' })
    const toolCall = (this.#calls[index] ??= { id, name: textOf(name), args: '' })
    if (text !== undefined && text !== null) toolCall.args += typeof text === 'string' ? text : JSON.stringify(text)
  }

  #readUsage(usage: unknown): void {
    const { prompt_tokens: prompt, completion_tokens: completion } = fieldsOf(usage)
    if (typeof prompt === 'number') this.usage.promptTokens = prompt
    if (typeof completion === 'number') this.usage.completionTokens = completion
  }
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
