/**
 * Converts an object of OpenAI's Responses, whole or event by event, to the domain's LlmAnswer or LlmEvents. The
 * functions are pure and take parsed JSON.
 */
import type { LlmAnswer, LlmEvent, LlmUsage, StopReason } from '../../domain/ports/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import { excerpt, protocolError } from '../wire/failures.ts'
import { countAt, countOf, isObject, type JsonObject, objectsOf, stringOf } from '../wire/json.ts'
import { classOfError } from './wire.ts'

/** The maximum number of function calls in one response. A server with more calls is treated as failed. */
const callsMax = 128

/**
 * Throws ProviderError: `protocol` if the body is not a response object, `empty` without content, `bad_request` if a
 * filter removed all content.
 */
export function readResponse(body: JsonObject): LlmAnswer {
  const output = objectsOf(body['output'])
  if (!Array.isArray(body['output'])) throw protocolError('no output')
  const text = output
    .flatMap((item) => objectsOf(item['content']))
    .map(textOf)
    .join('')
  const calls = output.filter(isCall).map((item) => ({ ...callOf(item), arguments: stringOf(item['arguments']) }))
  if (calls.length > callsMax) throw protocolError('too many calls')
  const stopReason = stopReasonOf(body, text !== '', calls.length > 0)
  return { text, calls, stopReason, usage: usageOf(body['usage']) }
}

/** Reads one streamed response. */
export class ResponseTurn {
  readonly #apiKey: string | null
  #hasText = false
  #isOver = false
  /** Maps a function call's index in the server's output to our call index. Ours counts calls from 0. */
  readonly #calls = new Map<unknown, number>()

  constructor(apiKey: string | null) {
    this.#apiKey = apiKey
  }

  /** True if the stream's last event was read. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Throws ProviderError if an event reports a failure. Events not listed here are ignored. */
  read(event: JsonObject): LlmEvent[] {
    switch (event['type']) {
      case 'response.output_text.delta':
      // The assistant's refusal is text too, so it is passed on as text.
      case 'response.refusal.delta':
        return this.#text(stringOf(event['delta']))
      case 'response.output_item.added':
        return isObject(event['item']) && isCall(event['item']) ? this.#call(event['output_index'], event['item']) : []
      case 'response.function_call_arguments.delta':
        return this.#arguments(event['output_index'], stringOf(event['delta']))
      case 'response.completed':
      case 'response.incomplete':
        return [this.#end(event['response'])]
      case 'response.failed':
        throw this.#failure(isObject(event['response']) ? event['response']['error'] : null)
      case 'error':
        throw this.#failure(event)
    }
    return []
  }

  #text(delta: string): LlmEvent[] {
    if (delta === '') return []
    this.#hasText = true
    return [{ type: 'text', delta }]
  }

  #call(place: unknown, item: JsonObject): LlmEvent[] {
    const index = this.#calls.size
    if (index === callsMax) throw protocolError('too many calls')
    this.#calls.set(place, index)
    return [{ type: 'call', index, ...callOf(item) }, ...this.#arguments(place, stringOf(item['arguments']))]
  }

  #arguments(place: unknown, delta: string): LlmEvent[] {
    const index = this.#calls.get(place)
    if (index === undefined) throw protocolError('arguments of no call')
    return delta === '' ? [] : [{ type: 'arguments', index, delta }]
  }

  #end(response: unknown): LlmEvent {
    if (!isObject(response)) throw protocolError('no response')
    this.#isOver = true
    const stopReason = stopReasonOf(response, this.#hasText, this.#calls.size > 0)
    return { type: 'end', stopReason, usage: usageOf(response['usage']) }
  }

  #failure(error: unknown): ProviderError {
    return new ProviderError(classOfError(error), { sent: true, cause: excerpt(JSON.stringify(error), this.#apiKey) })
  }
}

const textOf = (part: JsonObject) => stringOf(part['type'] === 'refusal' ? part['refusal'] : part['text'])
const isCall = (item: JsonObject) => item['type'] === 'function_call'

function callOf(item: JsonObject): { callId: string; name: string } {
  const [callId, name] = [stringOf(item['call_id']), stringOf(item['name'])]
  if (callId === '' || name === '') throw protocolError('a call without its id or name')
  return { callId, name }
}

/**
 * Returns the stop reason. If reasoning used up the token limit, a response without text is valid. If a content filter
 * removed all content, the request counts as refused, and no other provider may be tried.
 */
function stopReasonOf(response: JsonObject, hasText: boolean, called: boolean): StopReason {
  const { status, incomplete_details: details } = response
  const reason = isObject(details) ? details['reason'] : undefined
  if (status !== 'completed' && status !== 'incomplete') throw protocolError('no final status')
  if (status === 'incomplete' && reason !== 'content_filter') return 'max_output_tokens'
  if (called) return 'tool_call'
  if (!hasText) throw new ProviderError(reason === 'content_filter' ? 'bad_request' : 'empty', { sent: true })
  return 'stop'
}

/** Converts the server's token counts. The input and output counts include cached and reasoning tokens. */
function usageOf(usage: unknown): LlmUsage {
  const counts = isObject(usage) ? usage : {}
  const [input, output] = [countOf(counts['input_tokens']), countOf(counts['output_tokens'])]
  const cached = Math.min(countAt(counts['input_tokens_details'], 'cached_tokens'), input)
  const reasoning = Math.min(countAt(counts['output_tokens_details'], 'reasoning_tokens'), output)
  return {
    inputTokens: input - cached,
    cachedInputTokens: cached,
    outputTokens: output - reasoning,
    reasoningTokens: reasoning,
  }
}
