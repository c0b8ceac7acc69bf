import type { LlmEvent, LlmUsage, StopReason } from '../ports/llm.ts'
import { levelsOf } from './json-levels.ts'
import { argumentsText } from './tool-arguments.ts'

/** The maximum nesting depth of structured output, equal to the limit for a request. */
const levelsMax = 64

/** One part in a finished answer. Structured output is JSON and not a message. */
export type OutputItem =
  | { type: 'message'; text: string }
  | { type: 'function_call'; callId: string; name: string; arguments: string }
  | { type: 'structured_json'; json: unknown }

/**
 * An item that has begun. Its type, and a function call's id and name, do not change any more. The item's content
 * follows.
 */
type ItemShell =
  | { type: 'message' }
  | { type: 'function_call'; callId: string; name: string }
  | { type: 'structured_json' }

/**
 * The events of an answer, in order. `index` counts items from 0 in opening order. Deltas are never empty. A successful
 * answer ends with `completed`. If it fails, the error is thrown instead.
 */
export type ItemEvent =
  | { type: 'created' }
  | { type: 'itemAdded'; index: number; item: ItemShell }
  | { type: 'textDelta'; index: number; delta: string }
  | { type: 'argumentsDelta'; index: number; delta: string }
  | { type: 'itemCompleted'; index: number; item: OutputItem }
  | { type: 'completed'; stopReason: StopReason; usage: LlmUsage; costMicroUsd: number | null }

type Open = { type: 'text'; parts: string[] } | { type: 'call'; callId: string; name: string; parts: string[] }

/**
 * Thrown if the provider's events contradict one another. `truncated` is true if the only reason is that the token
 * limit cut the answer off.
 */
export class AssemblyError extends Error {
  readonly truncated: boolean

  constructor(message: string, truncated: boolean, cause?: unknown) {
    super(message, { cause })
    this.truncated = truncated
  }
}

/**
 * Turns a provider's events into items, for a whole answer and for a stream. All items complete together and in order
 * when the provider has ended, because a truncated function call must never look finished.
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

  /** Counts the characters in text and arguments so far. */
  get characters(): number {
    return this.#characters
  }

  /** Adds the events to `ready`. Throws AssemblyError if arguments arrive before their function call. */
  push(event: Exclude<LlmEvent, { type: 'end' }>, ready: ItemEvent[]): void {
    switch (event.type) {
      case 'text':
        return this.#pushText(event.delta, ready)
      case 'call':
        return this.#pushCall(event, ready)
      case 'arguments':
        return this.#pushArguments(event.index, event.delta, ready)
    }
  }

  /** Returns the finished items. Throws AssemblyError if structured output is not JSON. */
  finish(stopReason: StopReason): OutputItem[] {
    return this.#open.map((item) => this.#finished(item, stopReason))
  }

  #pushText(delta: string, ready: ItemEvent[]): void {
    if (delta === '') return
    this.#characters += delta.length
    let index = this.#text
    if (index === null) {
      index = this.#text = this.#open.push({ type: 'text', parts: [] }) - 1
      ready.push({ type: 'itemAdded', index, item: { type: this.#structured ? 'structured_json' : 'message' } })
    }
    this.#open[index]?.parts.push(delta)
    ready.push({ type: 'textDelta', index, delta })
  }

  #pushCall({ index: call, callId, name }: Extract<LlmEvent, { type: 'call' }>, ready: ItemEvent[]): void {
    const index = this.#open.push({ type: 'call', callId, name, parts: [] }) - 1
    this.#calls.set(call, index)
    ready.push({ type: 'itemAdded', index, item: { type: 'function_call', callId, name } })
  }

  #pushArguments(call: number, delta: string, ready: ItemEvent[]): void {
    const index = this.#calls.get(call)
    if (index === undefined) throw new AssemblyError('arguments before their call', false)
    if (delta === '') return
    this.#characters += delta.length
    this.#open[index]?.parts.push(delta)
    ready.push({ type: 'argumentsDelta', index, delta })
  }

  #finished(item: Open, stopReason: StopReason): OutputItem {
    const content = item.parts.join('')
    // A provider may send a function call without arguments. The contract requires JSON text.
    if (item.type === 'call')
      return { type: 'function_call', callId: item.callId, name: item.name, arguments: argumentsText(content) }
    if (!this.#structured) return { type: 'message', text: content }
    if (levelsOf(content) > levelsMax) throw new AssemblyError('structured output is nested too deeply', false)
    try {
      return { type: 'structured_json', json: JSON.parse(content) }
    } catch (cause) {
      // V8 quotes the text in its message. Users' words and prompts must stay out of logs, so only the error's name is
      // passed on.
      const kind = cause instanceof Error ? cause.name : 'unknown'
      throw new AssemblyError(`structured output is not JSON (${kind})`, stopReason === 'max_output_tokens')
    }
  }
}
