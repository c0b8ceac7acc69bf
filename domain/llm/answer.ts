import type { LlmEvent, LlmUsage, StopReason } from './llm.ts'

/** What an answer is made of, as the contract shows it. Structured output is JSON and not a message. */
export type OutputItem =
  | { type: 'message'; text: string }
  | { type: 'function_call'; callId: string; name: string; arguments: string }
  | { type: 'structured_json'; json: unknown }

/** Identity is final, content is still to come. */
type ItemShell =
  | { type: 'message' }
  | { type: 'function_call'; callId: string; name: string }
  | { type: 'structured_json' }

export type RespondUsage = LlmUsage & { costMicroUsd: number | null }

/** `index` counts items from 0 in the order in which they opened. Deltas are never empty. `completed` is the one end of a success; a failure is thrown. */
export type RespondEvent =
  | { type: 'created' }
  | { type: 'itemAdded'; index: number; item: ItemShell }
  | { type: 'textDelta'; index: number; delta: string }
  | { type: 'argumentsDelta'; index: number; delta: string }
  | { type: 'itemCompleted'; index: number; item: OutputItem }
  | { type: 'completed'; stopReason: StopReason; usage: RespondUsage }

type Open = { type: 'text'; parts: string[] } | { type: 'call'; callId: string; name: string; parts: string[] }

/** The provider's own account of its answer cannot be right. `truncated`: only because the token limit cut it off. */
export class AssemblyError extends Error {
  readonly truncated: boolean

  constructor(message: string, truncated: boolean, cause?: unknown) {
    super(message, { cause })
    this.truncated = truncated
  }
}

/**
 * Turns a provider's events into items: the same for an answer in one piece and for a stream. Items complete only when the provider has
 * ended, all together and in order, because a call that was cut off must never look finished.
 */
export class AnswerAssembler {
  readonly #structured: boolean
  readonly #open: Open[] = []
  readonly #calls = new Map<number, number>()
  #text: number | null = null
  #characters = 0

  constructor(structured: boolean) {
    this.#structured = structured
  }

  /** Of text and arguments so far. */
  get characters(): number {
    return this.#characters
  }

  /** Throws AssemblyError for arguments of a call that was never opened. */
  push(event: Exclude<LlmEvent, { type: 'end' }>): RespondEvent[] {
    switch (event.type) {
      case 'text':
        return this.#pushText(event.delta)
      case 'call':
        return this.#pushCall(event.index, event.callId, event.name)
      case 'arguments':
        return this.#pushArguments(event.index, event.delta)
    }
  }

  /** The finished items. Throws AssemblyError when structured output is not JSON. */
  finish(stopReason: StopReason): OutputItem[] {
    return this.#open.map((item) => this.#finished(item, stopReason))
  }

  #pushText(delta: string): RespondEvent[] {
    if (delta === '') return []
    this.#characters += delta.length
    const opened = this.#text === null
    const index = (this.#text ??= this.#open.push({ type: 'text', parts: [] }) - 1)
    this.#open[index]?.parts.push(delta)
    const text: RespondEvent = { type: 'textDelta', index, delta }
    if (!opened) return [text]
    return [{ type: 'itemAdded', index, item: { type: this.#structured ? 'structured_json' : 'message' } }, text]
  }

  #pushCall(call: number, callId: string, name: string): RespondEvent[] {
    const index = this.#open.push({ type: 'call', callId, name, parts: [] }) - 1
    this.#calls.set(call, index)
    return [{ type: 'itemAdded', index, item: { type: 'function_call', callId, name } }]
  }

  #pushArguments(call: number, delta: string): RespondEvent[] {
    const index = this.#calls.get(call)
    if (index === undefined) throw new AssemblyError('arguments before their call', false)
    if (delta === '') return []
    this.#characters += delta.length
    this.#open[index]?.parts.push(delta)
    return [{ type: 'argumentsDelta', index, delta }]
  }

  #finished(item: Open, stopReason: StopReason): OutputItem {
    const content = item.parts.join('')
    // A call without parameters may come with no arguments at all; the contract says that they are JSON text.
    if (item.type === 'call')
      return { type: 'function_call', callId: item.callId, name: item.name, arguments: content || '{}' }
    if (!this.#structured) return { type: 'message', text: content }
    try {
      return { type: 'structured_json', json: JSON.parse(content) }
    } catch (cause) {
      // V8 quotes the text in its message: speech and prompts stay out of logs, so only the kind of the error goes on.
      const kind = cause instanceof Error ? cause.name : 'unknown'
      throw new AssemblyError(`structured output is not JSON (${kind})`, stopReason === 'max_output_tokens')
    }
  }
}
