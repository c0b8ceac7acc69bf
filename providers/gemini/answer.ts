/**
 * Converts a GenerateContentResponse, whole or as a stream, to the domain's LlmAnswer or LlmEvents. In a stream each
 * event is a complete GenerateContentResponse. The functions are pure and take parsed JSON.
 */
import type { LlmAnswer, LlmEvent, LlmUsage, StopReason } from '../../domain/ports/llm.ts'
import { type ErrorClass, ProviderError } from '../../domain/ports/provider-error.ts'
import { protocolError } from '../wire/failures.ts'
import { countOf, isObject, type JsonObject, objectsOf } from '../wire/json.ts'

type End = Extract<LlmEvent, { type: 'end' }>

/**
 * Throws ProviderError: `protocol` if the body does not follow Gemini's format, `empty` without content, `bad_request`
 * if a filter removed all content.
 */
export function readContent(body: JsonObject): LlmAnswer {
  const turn = new ContentTurn()
  const calls: LlmAnswer['calls'] = []
  let text = ''
  for (const event of turn.read(body)) {
    if (event.type === 'text') text += event.delta
    else if (event.type === 'call') calls.push({ callId: event.callId, name: event.name, arguments: '' })
    else if (event.type === 'arguments') Object.assign(calls[event.index] ?? {}, { arguments: event.delta })
  }
  const { stopReason, usage } = turn.end()
  return { text, calls, stopReason, usage }
}

/** One streamed response. `read` takes the events in order; `end` returns the stop reason and the usage. */
export class ContentTurn {
  /** True if the finish reason and the token usage were read, so no event follows. */
  ended = false
  #finish: unknown
  #usage: unknown = null
  #hasText = false
  #calls = 0

  get hasFinished(): boolean {
    return this.#finish !== undefined
  }

  /** Throws ProviderError `bad_request` if the prompt was blocked. */
  read(piece: JsonObject): LlmEvent[] {
    refuseBlocked(piece)
    const candidate = candidateOf(piece)
    this.#usage = piece['usageMetadata'] ?? this.#usage
    this.#finish = candidate?.['finishReason'] ?? this.#finish
    this.ended = this.#finish !== undefined && piece['usageMetadata'] !== undefined
    return partsOf(candidate).flatMap((part) => this.#readPart(part, piece['responseId']))
  }

  /**
   * Returns the stop reason and the usage. Throws ProviderError `protocol` if there was no finish reason, because the
   * stream was then cut.
   */
  end(): End {
    return { type: 'end', stopReason: this.#stopReason(), usage: readUsage(this.#usage) }
  }

  /** Reads one part. A function call is never split over several events. */
  #readPart(part: JsonObject, responseId: unknown): LlmEvent[] {
    const { text, thought, functionCall } = part
    if (isObject(functionCall)) {
      const index = this.#calls++
      const { callId, name } = readCall(functionCall, index, responseId)
      const delta = JSON.stringify(functionCall['args'] ?? {})
      return [
        { type: 'call', index, callId, name },
        { type: 'arguments', index, delta },
      ]
    }
    if (typeof text !== 'string' || text === '' || thought === true) return []
    this.#hasText = true
    return [{ type: 'text', delta: text }]
  }

  #stopReason(): StopReason {
    const finish = finishOf(this.#finish)
    if (finish === 'max_output_tokens') return finish
    if (this.#calls > 0) return 'tool_call'
    // If text was sent before the filter stopped the response, the text is kept.
    if (!this.#hasText)
      throw finish === 'filtered' ? filtered(this.#finish) : new ProviderError('empty', { sent: true })
    return 'stop'
  }
}

/** Returns the first candidate. A request asks for one candidate. */
export function candidateOf({ candidates }: JsonObject): JsonObject | undefined {
  return Array.isArray(candidates) ? candidates.find(isObject) : undefined
}

export function partsOf(candidate: JsonObject | undefined): JsonObject[] {
  const content = candidate?.['content']
  return isObject(content) ? objectsOf(content['parts']) : []
}

/** Reads a function call. If the model sends no call id, makes an id from the response's id and the call's index. */
function readCall({ id, name }: JsonObject, index: number, responseId: unknown): { callId: string; name: string } {
  if (typeof name !== 'string' || name === '') throw protocolError('a call without a name')
  if (typeof id === 'string' && id !== '') return { callId: id, name }
  return { callId: `call_${typeof responseId === 'string' ? responseId : ''}_${index}`, name }
}

/**
 * Converts the vendor's token counts. The prompt count includes cached tokens. Thinking is counted separately from the
 * response.
 */
function readUsage(usage: unknown): LlmUsage {
  const counts = isObject(usage) ? usage : {}
  const prompt = countOf(counts['promptTokenCount']) + countOf(counts['toolUsePromptTokenCount'])
  const cached = Math.min(countOf(counts['cachedContentTokenCount']), prompt)
  return {
    inputTokens: prompt - cached,
    cachedInputTokens: cached,
    outputTokens: countOf(counts['candidatesTokenCount']),
    reasoningTokens: countOf(counts['thoughtsTokenCount']),
  }
}

/**
 * The meanings for `finishReason`. Only a finish reason shows that a stream has ended. `filtered`: the vendor withheld
 * the rest of the response.
 */
type Finish = Extract<StopReason, 'stop' | 'max_output_tokens'> | 'filtered'

/**
 * Converts a finish reason. Throws ProviderError if the reason is a failure, and `protocol` if the reason is missing or
 * unknown.
 */
export function finishOf(reason: unknown): Finish {
  if (reason === undefined) throw protocolError('no finishReason')
  const word = wordOf(reason)
  const finish = finishes[word]
  if (finish !== undefined) return finish
  throw new ProviderError(failures[word] ?? 'protocol', { sent: true, cause: word })
}

/**
 * Throws ProviderError `bad_request` if `promptFeedback.blockReason` is set: a blocked prompt never gets a candidate.
 */
export function refuseBlocked({ promptFeedback }: JsonObject): void {
  const reason = isObject(promptFeedback) ? promptFeedback['blockReason'] : undefined
  if (reason !== undefined) throw filtered(reason)
}

/**
 * Makes the error for blocked content. Its class is `bad_request`, because no other provider may be tried for such
 * content.
 */
export const filtered = (reason: unknown) => new ProviderError('bad_request', { sent: true, cause: wordOf(reason) })

const wordOf = (reason: unknown) => (typeof reason === 'string' ? reason.slice(0, 64) : 'no word')

const finishes: Partial<Record<string, Finish>> = {
  STOP: 'stop',
  MAX_TOKENS: 'max_output_tokens',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
}

const failures: Partial<Record<string, ErrorClass>> = {
  LANGUAGE: 'unsupported',
  OTHER: 'server',
  // The model made a malformed function call. Another model may answer correctly, so this error allows failover.
  MALFORMED_FUNCTION_CALL: 'protocol',
  UNEXPECTED_TOOL_CALL: 'protocol',
  TOO_MANY_TOOL_CALLS: 'protocol',
}
