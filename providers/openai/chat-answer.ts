/** Reads a chat completion, whole or chunk by chunk, into the domain's answer. Pure: what it is given has already been parsed. */
import type { LlmAnswer, LlmEvent, LlmUsage, StopReason } from '../../domain/llm/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { protocolError } from '../wire/failures.ts'
import { countAt, countOf, isObject, type JsonObject, objectsOf } from '../wire/json.ts'

/** Calls in one turn; more is a server that has lost its way. */
const callsMax = 128

/** ProviderError `protocol` for what is no completion, `empty` for one with nothing in it, `bad_request` for one that a filter emptied. */
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

/** One streamed turn. `read` takes the chunks in order, `end` says how it went. */
export class ChatTurn {
  #finish: unknown = null
  #usage: unknown = null
  #said = false
  /** The server's index of a call → ours, which counts from 0 without gaps. */
  readonly #calls = new Map<unknown, number>()

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
      this.#said = true
      events.push({ type: 'text', delta: text })
    }
    for (const call of objectsOf(delta['tool_calls'])) this.#readCall(call, chunk['id'], events)
    return events
  }

  /** Throws ProviderError `protocol` when no finish was seen: the stream was cut. */
  end(): LlmEvent {
    const stopReason = stopReasonOf(this.#finish, this.#said, this.#calls.size > 0)
    return { type: 'end', stopReason, usage: readUsage(this.#usage) }
  }

  #readCall(call: JsonObject, completionId: unknown, events: LlmEvent[]): void {
    // Servers that send each call whole leave its index out.
    const key = call['index'] ?? call['id'] ?? this.#calls.size
    let index = this.#calls.get(key)
    const piece = isObject(call['function']) ? call['function'] : {}
    if (index === undefined) {
      index = this.#calls.size
      if (index === callsMax) throw protocolError('too many calls')
      this.#calls.set(key, index)
      events.push({ type: 'call', index, callId: callIdOf(call, index, completionId), name: nameOf(piece) })
    }
    const delta = argumentsOf(piece)
    if (delta !== '') events.push({ type: 'arguments', index, delta })
  }
}

const firstChoice = (body: JsonObject): JsonObject | undefined => objectsOf(body['choices'])[0]

/** A refusal is what the assistant said instead. */
function textOf(message: JsonObject): string {
  const { content, refusal } = message
  if (typeof content === 'string' && content !== '') return content
  return typeof refusal === 'string' ? refusal : ''
}

function readCall(call: JsonObject, index: number, completionId: unknown): LlmAnswer['calls'][number] {
  const piece = isObject(call['function']) ? call['function'] : {}
  return { callId: callIdOf(call, index, completionId), name: nameOf(piece), arguments: argumentsOf(piece) }
}

/** Where a server gives calls no id, one is made that differs from turn to turn. */
function callIdOf(call: JsonObject, index: number, completionId: unknown): string {
  if (typeof call['id'] === 'string' && call['id'] !== '') return call['id']
  return `call_${typeof completionId === 'string' ? completionId : ''}_${index}`
}

function nameOf(piece: JsonObject): string {
  if (typeof piece['name'] !== 'string' || piece['name'] === '') throw protocolError('a call without a name')
  return piece['name']
}

function argumentsOf(piece: JsonObject): string {
  const given = piece['arguments']
  if (typeof given === 'string') return given
  return isObject(given) ? JSON.stringify(given) : ''
}

function stopReasonOf(finish: unknown, said: boolean, called: boolean): StopReason {
  if (typeof finish !== 'string') throw protocolError('no finish_reason')
  if (finish === 'length') return 'max_output_tokens'
  // A forced call ends with `stop` on some servers: what was said counts, not how it is called.
  if (called) return 'tool_call'
  if (finish === 'tool_calls' || finish === 'function_call') throw protocolError('calls announced, none made')
  // Filtered text that did arrive stands; a filter that left nothing refused the request, and another provider is not to be tried for it.
  if (!said) throw new ProviderError(finish === 'content_filter' ? 'bad_request' : 'empty', { sent: true })
  return 'stop'
}

/** Cached and reasoning tokens are counted inside the prompt and the completion, except where the server's own total shows that reasoning came on top. */
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
