/**
 * Reads text, tool calls and token counts from the first choice of a chat completion, whole or chunk by chunk. The
 * fields come from the provider unchecked, so each type is tested before use.
 */
import type { NativeToolCall, NativeUsage } from '../../../generated/compat/types.ts'
import type { ChatAnswer } from '../openai/chat-translation.ts'

type Fields = Record<string, unknown>

export class CompletionText {
  text = ''
  usage: NativeUsage = { promptTokens: 0, completionTokens: 0 }
  readonly #calls = new Map<unknown, NativeToolCall>()

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
    return [...this.#calls.values()].map((call) => ({ ...call, args: call.args || '{}' }))
  }

  #readPiece(piece: unknown): string {
    const { content, refusal, tool_calls: calls } = fieldsOf(piece)
    const text = textOf(content) || textOf(refusal)
    this.text += text
    if (Array.isArray(calls))
      for (const [at, call] of (calls as unknown[]).entries()) this.#readCall(fieldsOf(call), at)
    return text
  }

  /** Adds a piece to its tool call. A server that sends each call in one piece leaves the index out. */
  #readCall(call: Fields, at: number): void {
    const { name, arguments: text } = fieldsOf(call['function'])
    const key = call['index'] ?? call['id'] ?? at
    const toolCall = this.#calls.get(key) ?? { id: textOf(call['id']), name: textOf(name), args: '' }
    if (text !== undefined && text !== null) toolCall.args += typeof text === 'string' ? text : JSON.stringify(text)
    this.#calls.set(key, toolCall)
  }

  #readUsage(usage: unknown): void {
    const { prompt_tokens: prompt, completion_tokens: completion } = fieldsOf(usage)
    if (typeof prompt === 'number') this.usage.promptTokens = prompt
    if (typeof completion === 'number') this.usage.completionTokens = completion
  }
}

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {})
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
