/**
 * Converts a chat completion, whole or chunk by chunk, to the domain's LlmAnswer or LlmEvents. The functions are pure
 * and take parsed JSON.
 */
import { CallIndexes } from '../../domain/llm/call-indexes.ts'
import type { LlmAnswer, LlmEvent, LlmUsage, StopReason } from '../../domain/ports/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { protocolError } from '../wire/failures.ts'
import { countAt, countOf, isObject, type JsonObject, objectsOf } from '../wire/json.ts'

/** The maximum number of function calls in one response. A server with more calls is treated as failed. */
const callsMax = 128

/**
 * Throws ProviderError: `protocol` if the body is not a completion, `empty` without content, `bad_request` if a filter
 * removed all content.
 */
export function readCompletion(body: JsonObject): LlmAnswer {
  const first = firstChoice(body)
  const message = first?.['message']
  if (!first || !isObject(message)) throw protocolError('no choice')
  const text = textOf(message)
  const calls = objectsOf(message['tool_calls']).map((call, index) => readCall(call, index, body['id']))
  if (calls.length > callsMax) throw protocolError('too many calls')
  const stopReason = stopReasonOf(first['finish_reason'], text !== '', calls.length > 0)
  return { text, calls, stopReason, usage: readUsage(body['usage']) }
}

/** One streamed response. `read` takes the chunks in order; `end` returns the stop reason and the usage. */
export class ChatTurn {
  #finish: unknown = null
  #usage: unknown = null
  #hasText = false
  readonly #calls = new CallIndexes()

  /** True if the finish reason was read. Only the usage may follow. */
  get hasFinished(): boolean {
    return typeof this.#finish === 'string'
  }

  read(chunk: JsonObject): LlmEvent[] {
    if (isObject(chunk['usage'])) this.#usage = chunk['usage']
    const choice = firstChoice(chunk)
    if (!choice) return []
    this.#finish = choice['finish_reason'] ?? this.#finish
    const delta = choice['delta']
    if (!isObject(delta)) return []
    const events: LlmEvent[] = []
    const text = textOf(delta)
    if (text !== '') {
      this.#hasText = true
      events.push({ type: 'text', delta: text })
    }
    for (const call of objectsOf(delta['tool_calls'])) this.#readCall(call, chunk['id'], events)
    return events
  }

  /** Throws ProviderError `protocol` if there was no finish reason, because the stream was then cut. */
  end(): LlmEvent {
    const stopReason = stopReasonOf(this.#finish, this.#hasText, this.#calls.count > 0)
    return { type: 'end', stopReason, usage: readUsage(this.#usage) }
  }

  #readCall(call: JsonObject, completionId: unknown, events: LlmEvent[]): void {
    const piece = isObject(call['function']) ? call['function'] : {}
    const isNamed = wordOf(piece['name']) !== undefined
    const { index, isNew } = this.#calls.read({ index: call['index'], id: wordOf(call['id']), isNamed })
    if (index === callsMax) throw protocolError('too many calls')
    if (isNew) events.push({ type: 'call', index, callId: callIdOf(call, index, completionId), name: nameOf(piece) })
    const delta = argumentsOf(piece)
    if (delta !== '') events.push({ type: 'arguments', index, delta })
  }
}

const firstChoice = (body: JsonObject): JsonObject | undefined => objectsOf(body['choices'])[0]
const wordOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/**
 * Returns the message's text. Models that reason may send a list of parts with their reasoning and their text. A
 * refusal counts as text, because the model sends it instead of other text.
 */
function textOf({ content, refusal }: JsonObject): string {
  // Nearly every chunk has plain text, so no list is made for it.
  return wordOf(Array.isArray(content) ? textOfParts(content) : content) ?? wordOf(refusal) ?? ''
}

function textOfParts(parts: readonly unknown[]): string {
  return objectsOf(parts)
    .map(({ type, text }) => (type === 'text' ? text : ''))
    .join('')
}

function readCall(call: JsonObject, index: number, completionId: unknown): LlmAnswer['calls'][number] {
  const piece = isObject(call['function']) ? call['function'] : {}
  return { callId: callIdOf(call, index, completionId), name: nameOf(piece), arguments: argumentsOf(piece) }
}

/**
 * Returns a function call's id. If the server sends no id, makes an id from the completion's id and the call's index.
 */
function callIdOf(call: JsonObject, index: number, completionId: unknown): string {
  return wordOf(call['id']) ?? `call_${typeof completionId === 'string' ? completionId : ''}_${index}`
}

function nameOf(piece: JsonObject): string {
  const name = wordOf(piece['name'])
  if (name === undefined) throw protocolError('a call without a name')
  return name
}

function argumentsOf(piece: JsonObject): string {
  const given = piece['arguments']
  if (typeof given === 'string') return given
  return isObject(given) ? JSON.stringify(given) : ''
}

function stopReasonOf(finish: unknown, hasText: boolean, called: boolean): StopReason {
  if (typeof finish !== 'string') throw protocolError('no finish_reason')
  if (finish === 'length') return 'max_output_tokens'
  // Some servers finish a forced tool call with `stop`, so the finish reason is ignored if the response contains a
  // function call.
  if (called) return 'tool_call'
  if (finish === 'tool_calls' || finish === 'function_call') throw protocolError('calls announced, none made')
  // Text sent before a content filter stopped the response is kept. If there is no text, the request counts as refused,
  // and no other provider may be tried.
  if (!hasText) throw new ProviderError(finish === 'content_filter' ? 'bad_request' : 'empty', { sent: true })
  return 'stop'
}

/**
 * Converts the server's token counts. The prompt's count includes cached tokens. The completion's count includes
 * reasoning tokens, unless the server's total shows that they were counted separately.
 */
export function readUsage(usage: unknown): LlmUsage {
  const counts = isObject(usage) ? usage : {}
  const [prompt, completion, total] = [
    countOf(counts['prompt_tokens']),
    countOf(counts['completion_tokens']),
    countOf(counts['total_tokens']),
  ]
  const cached = Math.min(countAt(counts['prompt_tokens_details'], 'cached_tokens'), prompt)
  const reasoning = countAt(counts['completion_tokens_details'], 'reasoning_tokens')
  const onTop = reasoning > completion || (reasoning > 0 && total === prompt + completion + reasoning)
  return {
    inputTokens: prompt - cached,
    cachedInputTokens: cached,
    outputTokens: onTop ? completion : completion - reasoning,
    reasoningTokens: reasoning,
  }
}
