/** Chat completions for clients that speak the protocol themselves: their fields go out and the choices come back untouched. */
import type {
  PassThrough,
  PassThroughAnswer,
  PassThroughPart,
  PassThroughRequest,
  PassThroughUsage,
} from '../../domain/llm/llm.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { StreamedAnswer } from '../../runtime/outbound/answer.ts'
import { EventReader } from '../../runtime/outbound/event-stream.ts'
import { protocolError, toProviderError } from '../wire/failures.ts'
import { json, type VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject } from '../wire/json.ts'
import { readUsage } from './chat-answer.ts'
import { chatPath, type LlmOptions, limitField } from './llm.ts'
import { readObject } from './wire.ts'

export function createPassThrough(http: VendorHttp, options: LlmOptions): PassThrough {
  const { limits } = options
  return {
    complete: (request, signal) => http.call(chatPath, json(bodyOf(request, options)), signal).then(readAnswer),
    stream(request, signal) {
      const body = json(streamBodyOf(request, options))
      return new Parts(() => http.stream(chatPath, body, limits.answerBytesMax, signal), options)
    },
  }
}

/** The parts of one answer, in the order in which they come. A plain iterator: this is what each chunk of a stream costs. */
class Parts implements AsyncIterableIterator<PassThroughPart> {
  readonly #open: () => Promise<StreamedAnswer>
  readonly #apiKey: string | null
  readonly #reader: EventReader
  readonly #answerReader = new StreamedAnswerReader()
  #answer: StreamedAnswer | null = null
  #chunks: AsyncIterator<Uint8Array> | null = null
  #ready: PassThroughPart[] = []
  #failure: Error | null = null
  #ended = false

  constructor(open: () => Promise<StreamedAnswer>, { apiKey, limits }: LlmOptions) {
    this.#open = open
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
        if (next.done) this.#end()
        else this.#read(next.value)
      } catch (error) {
        // What came before it in the same chunk goes out first.
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

  #read(chunk: Uint8Array): void {
    for (const { data } of this.#reader.read(chunk)) {
      if (data === '[DONE]') {
        this.#answer?.body.discard()
        return this.#end()
      }
      this.#answerReader.read(readObject(data, this.#apiKey), this.#ready)
    }
    this.#reader.check()
  }

  #end(): void {
    this.#answerReader.end(this.#ready)
    this.#ended = true
  }
}

/**
 * JSON leaves out what is undefined: that costs less than taking fields out of an object, and fields that a client did not send are not
 * named, since each would make V8 build the object anew. `stream_options` belong to a stream, and servers refuse them elsewhere.
 */
function bodyOf({ model, body, maxOutputTokens }: PassThroughRequest, options: LlmOptions): JsonObject {
  const sent: JsonObject = { ...body }
  sent['model'] = model
  for (const field of readHere) if (sent[field] !== undefined) sent[field] = undefined
  if (maxOutputTokens !== undefined) sent[limitField(model, options)] = maxOutputTokens
  return sent
}

const readHere = ['stream', 'stream_options', 'max_tokens', 'max_token', 'max_completion_tokens']

/** Usage is always asked for where the server can be asked, because the ledger needs it; who reads the stream decides whether the client sees it. */
function streamBodyOf(request: PassThroughRequest, options: LlmOptions): JsonObject {
  const sent = bodyOf(request, options)
  sent['stream'] = true
  const asked = { ...streamOptionsOf(request.body) }
  if (options.asksForUsage) asked['include_usage'] = true
  else delete asked['include_usage']
  if (Object.keys(asked).length > 0) sent['stream_options'] = asked
  return sent
}

const streamOptionsOf = (body: PassThroughRequest['body']) =>
  isObject(body['stream_options']) ? body['stream_options'] : {}

/** ProviderError `protocol` for what is no completion, `empty` for one that says nothing, `bad_request` for one that a filter emptied. */
function readAnswer(body: JsonObject): PassThroughAnswer {
  const { choices } = body
  if (!Array.isArray(choices) || choices.length === 0) throw protocolError('no choice')
  let said = false
  let finish = ''
  for (const choice of choices as unknown[]) {
    if (!isObject(choice) || !isObject(choice['message'])) throw protocolError('no message')
    if (typeof choice['finish_reason'] !== 'string') throw protocolError('no finish_reason')
    finish = choice['finish_reason']
    said ||= says(choice['message'])
  }
  if (!said) refuseNothing(finish)
  return { content: choices, usage: usageOf(body['usage']) }
}

/** Chunks without content; more is a server that has lost its way. */
const heldMax = 1000

/** One streamed answer. */
class StreamedAnswerReader {
  /** What came before the first content. */
  readonly #held: PassThroughPart[] = []
  #said = false
  #finish = ''
  readonly #begun = new Set<unknown>()
  readonly #finished = new Set<unknown>()

  /** Adds the part to `ready`, or holds it back. */
  read(chunk: JsonObject, ready: PassThroughPart[]): void {
    const choices = Array.isArray(chunk['choices']) ? (chunk['choices'] as unknown[]) : []
    let characters = 0
    for (const choice of choices) if (isObject(choice)) characters += this.#readChoice(choice)
    const part = { content: choices, usage: usageOf(chunk['usage']), characters }
    if (!this.#said) {
      if (this.#held.push(part) > heldMax) throw protocolError('nothing but empty chunks')
      return
    }
    if (this.#held.length > 0) ready.push(...this.#held.splice(0))
    ready.push(part)
  }

  /** Throws ProviderError `protocol` when a choice has no finish: the stream was cut. */
  end(ready: PassThroughPart[]): void {
    if (this.#finished.size === 0 || this.#finished.size < this.#begun.size) throw protocolError('no finish_reason')
    if (!this.#said) refuseNothing(this.#finish)
    ready.push(...this.#held.splice(0))
  }

  #readChoice(choice: JsonObject): number {
    const { index, delta, finish_reason: finish } = choice
    this.#begun.add(index)
    if (typeof finish === 'string') {
      this.#finish = finish
      this.#finished.add(index)
    }
    if (!isObject(delta)) return 0
    this.#said ||= says(delta)
    return charactersOf(delta)
  }
}

/** Whether there is more than a role in it: text, a refusal, calls, reasoning, or what a server has invented since. */
function says(message: JsonObject): boolean {
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

/** Reasoning that used up the limit is an answer; a filter that left nothing refused the request, and another provider is not to be tried for it. */
function refuseNothing(finish: string): void {
  if (finish === 'length') return
  throw new ProviderError(finish === 'content_filter' ? 'bad_request' : 'empty', { sent: true })
}

function usageOf(raw: unknown): PassThroughUsage | null {
  return isObject(raw) ? { raw, counts: readUsage(raw) } : null
}
