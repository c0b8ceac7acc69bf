/**
 * Chat completions for clients with OpenAI's protocol: the client's fields are sent unchanged, and the choices are
 * returned unchanged.
 */
import type {
  PassThrough,
  PassThroughAnswer,
  PassThroughPart,
  PassThroughRequest,
  PassThroughUsage,
} from '../../domain/ports/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { CancelSignal } from '../../domain/ports/system.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { EventReader, type StreamEvent } from '../../runtime/outbound/event-stream.ts'
import { isCut, protocolError, toProviderError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { readUsage } from './chat-answer.ts'
import { chatPath, type LlmOptions, limitField } from './llm.ts'
import { readObject } from './wire.ts'

export function createPassThrough(http: VendorHttp, options: LlmOptions): PassThrough {
  const { limits } = options
  return {
    async complete(request, signal) {
      const body = await http.post(chatPath, json(bodyOf(request, options)), signal)
      signal.answeredBy?.(body['model'])
      return readAnswer(body)
    },
    stream(request, signal) {
      const body = json(streamBodyOf(request, options))
      return new Parts(() => http.stream(chatPath, body, limits.answerBytesMax, signal), signal, options)
    },
  }
}

/**
 * Yields one response's parts in order. A plain iterator is used because it is faster than a generator for each chunk.
 */
class Parts implements AsyncIterableIterator<PassThroughPart> {
  readonly #open: () => Promise<StreamedAnswer>
  readonly #signal: CancelSignal
  readonly #apiKey: string | null
  readonly #reader: EventReader
  readonly #answerReader = new StreamedAnswerReader()
  #answer: StreamedAnswer | null = null
  #chunks: AsyncIterator<Uint8Array> | null = null
  #ready: PassThroughPart[] = []
  #failure: Error | null = null
  #ended = false

  constructor(open: () => Promise<StreamedAnswer>, signal: CancelSignal, { apiKey, limits }: LlmOptions) {
    this.#open = open
    this.#signal = signal
    this.#apiKey = apiKey
    this.#reader = new EventReader(limits.eventCharsMax)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<PassThroughPart>> {
    for (;;) {
      const part = this.#ready.shift()
      if (part) return { value: part, done: false }
      if (this.#failure) throw this.#failure
      if (this.#ended) return { value: undefined, done: true }
      try {
        this.#chunks ??= await this.#begin()
        const next = await this.#chunks.next()
        if (next.done) this.#finish()
        else this.#read(this.#reader.read(next.value))
      } catch (error) {
        if (isCut(error) && this.#isWhole()) continue
        // Parts received before the failure, in the same chunk, are delivered first.
        this.#failure = toProviderError(error) as Error
        await this.#chunks?.return?.()
      }
    }
  }

  async return(): Promise<IteratorResult<PassThroughPart>> {
    this.#ended = true
    this.#ready = []
    await this.#chunks?.return?.()
    return { value: undefined, done: true }
  }

  async #begin(): Promise<AsyncIterator<Uint8Array>> {
    this.#answer = await this.#open()
    return this.#answer.body[Symbol.asyncIterator]()
  }

  #read(events: readonly StreamEvent[]): void {
    for (const { data } of events) {
      if (data === '[DONE]') {
        this.#answer?.body.discard()
        return this.#end()
      }
      const object = readObject(data, this.#apiKey)
      this.#signal.answeredBy?.(object['model'])
      this.#answerReader.read(object, this.#ready)
    }
    this.#reader.check()
  }

  /** Called when the body has ended, with or without `[DONE]`. */
  #finish(): void {
    this.#read(this.#reader.end())
    if (!this.#ended) this.#end()
  }

  /** Called when the connection was cut. Ends the stream if the server had sent the whole response. */
  #isWhole(): boolean {
    try {
      this.#finish()
    } catch {
      // The calling code reports the cut.
    }
    return this.#ended
  }

  #end(): void {
    this.#answerReader.end(this.#ready)
    this.#ended = true
  }
}

/**
 * Returns the request's body. To remove a field it is set to undefined, because this is faster than deleting it and
 * JSON leaves it out. A field not sent by the client is not set, because each new field makes V8 change the object's
 * shape. Servers refuse `stream_options` without a stream.
 */
function bodyOf({ model, body, maxOutputTokens }: PassThroughRequest, options: LlmOptions): JsonObject {
  const sent: JsonObject = { ...body }
  sent['model'] = model
  for (const field of replacedFields) if (sent[field] !== undefined) sent[field] = undefined
  if (maxOutputTokens !== undefined) sent[limitField(model, options)] = maxOutputTokens
  return sent
}

const replacedFields = ['stream', 'stream_options', 'max_tokens', 'max_token', 'max_completion_tokens']

/**
 * Returns the body for a streamed response. Token usage is requested from every server that supports it, because the
 * ledger needs the usage. The stream's reader decides if the client receives the usage too.
 */
function streamBodyOf(request: PassThroughRequest, options: LlmOptions): JsonObject {
  const sent = bodyOf(request, options)
  sent['stream'] = true
  const streamOptions = { ...streamOptionsOf(request.body) }
  if (options.asksForUsage) streamOptions['include_usage'] = true
  else delete streamOptions['include_usage']
  if (Object.keys(streamOptions).length > 0) sent['stream_options'] = streamOptions
  return sent
}

const streamOptionsOf = (body: PassThroughRequest['body']) =>
  isObject(body['stream_options']) ? body['stream_options'] : {}

/**
 * Throws ProviderError: `protocol` if the body is not a completion, `empty` without content, `bad_request` if a filter
 * removed all content.
 */
function readAnswer(body: JsonObject): PassThroughAnswer {
  const { choices } = body
  if (!Array.isArray(choices) || choices.length === 0) throw protocolError('no choice')
  let hasContent = false
  let finish = ''
  for (const choice of choices as unknown[]) {
    if (!isObject(choice) || !isObject(choice['message'])) throw protocolError('no message')
    if (typeof choice['finish_reason'] !== 'string') throw protocolError('no finish_reason')
    finish = choice['finish_reason']
    hasContent ||= holdsContent(choice['message'])
  }
  if (!hasContent) refuseEmpty(finish)
  return { content: choices, usage: usageOf(body['usage']) }
}

/** The maximum number of chunks before the first content. A server with more chunks is treated as failed. */
const pendingPartsMax = 1000

/** Reads one streamed response's chunks. */
class StreamedAnswerReader {
  /** The parts before the first content. */
  readonly #pendingParts: PassThroughPart[] = []
  #hasContent = false
  #finish = ''
  readonly #begun = new Set<unknown>()
  readonly #finished = new Set<unknown>()

  /** Adds the part to `ready`. Before the first content, the part is held back instead. */
  read(chunk: JsonObject, ready: PassThroughPart[]): void {
    const choices = Array.isArray(chunk['choices']) ? (chunk['choices'] as unknown[]) : []
    let characters = 0
    for (const choice of choices) if (isObject(choice)) characters += this.#readChoice(choice)
    const part = { content: choices, usage: usageOf(chunk['usage']), characters }
    if (!this.#hasContent) {
      if (this.#pendingParts.push(part) > pendingPartsMax) throw protocolError('nothing but empty chunks')
      return
    }
    if (this.#pendingParts.length > 0) ready.push(...this.#pendingParts.splice(0))
    ready.push(part)
  }

  /** Throws ProviderError `protocol` if a choice has no finish reason, because the stream was then cut. */
  end(ready: PassThroughPart[]): void {
    if (this.#finished.size === 0 || this.#finished.size < this.#begun.size) throw protocolError('no finish_reason')
    if (!this.#hasContent) refuseEmpty(this.#finish)
    ready.push(...this.#pendingParts.splice(0))
  }

  #readChoice(choice: JsonObject): number {
    const { index, delta, finish_reason: finish } = choice
    this.#begun.add(index)
    if (typeof finish === 'string') {
      this.#finish = finish
      this.#finished.add(index)
    }
    if (!isObject(delta)) return 0
    this.#hasContent ||= holdsContent(delta)
    return charactersOf(delta)
  }
}

/**
 * Returns true if the message has more than a role: text, a refusal, function calls, reasoning, or any unknown field.
 */
function holdsContent(message: JsonObject): boolean {
  for (const name in message) {
    if (name === 'role') continue
    const value = message[name]
    if (typeof value === 'string' ? value !== '' : Array.isArray(value) ? value.length > 0 : isObject(value))
      return true
  }
  return false
}

function charactersOf({ content, tool_calls: calls }: JsonObject): number {
  let characters = typeof content === 'string' ? content.length : 0
  if (!Array.isArray(calls)) return characters
  for (const call of calls as unknown[]) {
    const piece = isObject(call) ? call['function'] : null
    if (isObject(piece) && typeof piece['arguments'] === 'string') characters += piece['arguments'].length
  }
  return characters
}

/**
 * Throws ProviderError for a response without content. If reasoning used up the token limit, an empty response is
 * valid. If a content filter removed all content, the request counts as refused, and no other provider may be tried.
 */
function refuseEmpty(finish: string): void {
  if (finish === 'length') return
  throw new ProviderError(finish === 'content_filter' ? 'bad_request' : 'empty', { sent: true })
}

function usageOf(raw: unknown): PassThroughUsage | null {
  return isObject(raw) ? { raw, counts: readUsage(raw) } : null
}
