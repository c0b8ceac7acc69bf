/**
 * Converts the vendor's message, whole or event by event, to the domain's LlmAnswer or LlmEvents. The functions are
 * pure and take parsed JSON.
 */
import type { LlmAnswer, LlmEvent, LlmUsage, StopReason } from '../../domain/ports/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { protocolError } from '../wire/failures.ts'
import { countAt, countOf, isObject, type JsonObject, stringOf } from '../wire/json.ts'

/**
 * Throws ProviderError: `protocol` if the body is not a message, `empty` without content, `bad_request` for a refusal
 * before the first word.
 */
export function readMessage(body: JsonObject): LlmAnswer {
  if (!Array.isArray(body['content'])) throw protocolError('no content')
  const blocks = body['content'].filter(isObject)
  const text = blocks.map((block) => (block['type'] === 'text' ? stringOf(block['text']) : '')).join('')
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(readCall)
  const stopReason = stopReasonOf(body['stop_reason'], text !== '', calls.length > 0)
  return { text, calls, stopReason, usage: readUsage(body['usage']) }
}

/** One streamed message. `read` takes the events in order; `end` returns the stop reason and the usage. */
export class MessageTurn {
  /** True if `message_stop` was read, so no event follows. */
  ended = false
  #stopReason: unknown = null
  #usage: JsonObject = {}
  #hasText = false
  /** Maps a content block's index to its function call's index. Function calls count from 0. */
  readonly #calls = new Map<unknown, number>()

  get hasFinished(): boolean {
    return this.#stopReason !== null
  }

  /** Returns no events for pings and unknown events. */
  read(event: JsonObject): LlmEvent[] {
    switch (event['type']) {
      case 'message_start':
        if (isObject(event['message'])) this.#keepCounts(event['message']['usage'])
        return []
      case 'content_block_start':
        return this.#start(event['index'], event['content_block'])
      case 'content_block_delta':
        return this.#delta(event['index'], event['delta'])
      case 'message_delta':
        this.#keepCounts(event['usage'])
        if (isObject(event['delta'])) this.#stopReason = event['delta']['stop_reason'] ?? this.#stopReason
        return []
      case 'message_stop':
        this.ended = true
    }
    return []
  }

  /** Returns the last event. Throws ProviderError `protocol` without a stop reason, because the stream was then cut. */
  end(): LlmEvent {
    if (!this.hasFinished) throw protocolError('no stop_reason')
    const stopReason = stopReasonOf(this.#stopReason, this.#hasText, this.#calls.size > 0)
    return { type: 'end', stopReason, usage: readUsage(this.#usage) }
  }

  #start(at: unknown, block: unknown): LlmEvent[] {
    if (!isObject(block)) throw protocolError('no content_block')
    if (block['type'] === 'text') return this.#addText(block['text'])
    if (block['type'] !== 'tool_use') return []
    const { callId, name } = readCall(block)
    const index = this.#calls.size
    this.#calls.set(at, index)
    return [{ type: 'call', index, callId, name }]
  }

  #delta(at: unknown, delta: unknown): LlmEvent[] {
    if (!isObject(delta)) throw protocolError('no delta')
    if (delta['type'] === 'text_delta') return this.#addText(delta['text'])
    if (delta['type'] !== 'input_json_delta') return []
    const index = this.#calls.get(at)
    if (index === undefined) throw protocolError('arguments of no call')
    const text = stringOf(delta['partial_json'])
    return text === '' ? [] : [{ type: 'arguments', index, delta: text }]
  }

  #addText(value: unknown): LlmEvent[] {
    const delta = stringOf(value)
    if (delta === '') return []
    this.#hasText = true
    return [{ type: 'text', delta }]
  }

  /** Keeps the newest token counts, because they are cumulative. A count may be null if it did not change. */
  #keepCounts(usage: unknown): void {
    if (!isObject(usage)) return
    for (const [name, value] of Object.entries(usage)) if (value !== null) this.#usage[name] = value
  }
}

function readCall(block: JsonObject): LlmAnswer['calls'][number] {
  const { id, name, input } = block
  if (typeof id !== 'string' || typeof name !== 'string' || name === '') throw protocolError('a call without a name')
  return { callId: id, name, arguments: JSON.stringify(input ?? {}) }
}

function stopReasonOf(reason: unknown, hasText: boolean, hasCalls: boolean): StopReason {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'max_output_tokens'
    case 'tool_use':
      if (!hasCalls) throw protocolError('calls announced, none made')
      return 'tool_call'
    case 'end_turn':
    case 'stop_sequence':
      if (hasCalls) return 'tool_call'
      if (!hasText) throw new ProviderError('empty', { sent: true })
      return 'stop'
    case 'refusal':
      // Text before a refusal is kept. A refusal without text is `bad_request`, so no other provider is tried.
      if (!hasText) throw new ProviderError('bad_request', { sent: true, cause: 'refusal' })
      return 'stop'
    case 'pause_turn':
      throw protocolError('a pause for tools of the server, which were not asked for')
  }
  throw protocolError('no stop_reason that is known')
}

/**
 * Converts the vendor's token counts. Its `input_tokens` excludes cached tokens. Tokens written to the cache count as
 * input, tokens read from it as cached input. Its output includes thinking.
 */
function readUsage(usage: unknown): LlmUsage {
  const counts = isObject(usage) ? usage : {}
  const output = countOf(counts['output_tokens'])
  const reasoning = Math.min(countAt(counts['output_tokens_details'], 'thinking_tokens'), output)
  return {
    inputTokens: countOf(counts['input_tokens']) + countOf(counts['cache_creation_input_tokens']),
    cachedInputTokens: countOf(counts['cache_read_input_tokens']),
    outputTokens: output - reasoning,
    reasoningTokens: reasoning,
  }
}
