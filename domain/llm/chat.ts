import type { Row } from '../catalog/catalog.ts'
import type { Capability } from '../catalog/model.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import { begin } from '../dispatch/follow.ts'
import type { DispatchDeps, Plan, RequestContext, Route } from '../dispatch/request.ts'
import { Fault } from '../fault.ts'
import type { ProviderPorts } from '../ports/provider.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { type Ask, baseAsk } from '../routing/ask.ts'
import { modelName } from '../routing/model-name.ts'
import type { Routing } from '../routing/routing.ts'
import { chatSoFar, worstCaseOfChat } from './chat-tokens.ts'
import type { PassThrough, PassThroughAnswer, PassThroughPart, PassThroughRequest, PassThroughUsage } from './llm.ts'
import { quantitiesOf } from './tokens.ts'
import { translated, Untranslatable } from './translate-chat.ts'

export type ChatOrder = RequestContext & {
  routing: Routing
  /** Only routes: a model is told its language by its prompt. */
  language?: string
  /** As the client sent it; `model`, `stream` and the limit on tokens in it count no more. */
  body: Readonly<Record<string, unknown>>
  maxTokens?: number
}

type Identity = { id: string; created: number; model: string }

/** Ids and names are the router's; choices and usage are as the provider gave them. */
export type Completion = Identity & {
  object: 'chat.completion'
  choices: readonly unknown[]
  usage?: Readonly<Record<string, unknown>>
}
export type CompletionChunk = Identity & {
  object: 'chat.completion.chunk'
  choices: readonly unknown[]
  usage?: Readonly<Record<string, unknown>>
}

export type Chatted = { route: Route; completion: Completion }
/** `chunks` is to be read once; its iteration throws Fault when the provider breaks off. */
export type ChatStream = { route: Route; chunks: AsyncIterable<CompletionChunk> }

/** Both throw Fault. */
export type Chat = {
  /** Fails over until a provider has answered. */
  complete(order: ChatOrder): Promise<Chatted>
  /** Resolves with the first content. One attempt only: a client that reads a stream cannot be told that it starts anew. */
  stream(order: ChatOrder): Promise<ChatStream>
}

export function createChat(deps: DispatchDeps): Chat {
  const { limits } = deps
  const onceDeps = { ...deps, limits: { ...limits, llm: { ...limits.llm, attemptsMax: 1 } } }
  return {
    complete: (order) => chatAtOnce(deps, order),
    stream: (order) => chatInStream(onceDeps, order),
  }
}

async function chatAtOnce(deps: DispatchDeps, order: ChatOrder): Promise<Chatted> {
  const run: Plan<PassThroughAnswer>['run'] = (row, call, ports) => portOf(ports).complete(requestFor(row, order), call)
  const exchange = await dispatchRequest(deps, order, planOf(order, false, run)).catch(rethrown)
  const { content: choices, usage } = exchange.value
  exchange.succeed(usage ? quantitiesOf(usage.counts) : [])
  const { id, created, model } = identityOf(deps, order, exchange.route)
  const completion: Completion = { id, object: 'chat.completion', created, model, choices }
  if (usage) completion.usage = usage.raw
  return { route: exchange.route, completion }
}

async function chatInStream(deps: DispatchDeps, order: ChatOrder): Promise<ChatStream> {
  const exchange = await dispatchRequest(deps, order, planOf(order, true, beginAt(order))).catch(rethrown)
  const chunks = new Chunks(exchange, identityOf(deps, order, exchange.route), order, deps.limits.llm.idleMs)
  return { route: exchange.route, chunks }
}

function planOf<T>(order: ChatOrder, stream: boolean, run: Plan<T>['run']): Plan<T> {
  return { ask: askOf(order, stream), atOnce: !stream, worstCase: () => worstCaseOfChat(order), run }
}

/** What could not be translated is known only where it was tried; the caller is told which field it was. */
function rethrown(error: unknown): never {
  throw error instanceof Fault ? named(error) : error
}

function named(fault: Fault): Fault {
  const failure = fault.detail.cause
  const cause = failure instanceof ProviderError ? failure.cause : null
  if (fault.code !== 'capability_unsupported' || !(cause instanceof Untranslatable)) return fault
  return new Fault('capability_unsupported', {
    ...fault.detail,
    param: cause.field,
    message: `No model that the routing leaves can take ${cause.field}.`,
    hint: 'Leave it out, or route to a provider that speaks chat completions itself.',
  })
}

function askOf({ caller, routing, language, body }: ChatOrder, stream: boolean): Ask {
  const needs: Capability[] = []
  const { tools, response_format: format, reasoning_effort: effort } = body
  if (stream) needs.push('streaming')
  if (Array.isArray(tools) && tools.length > 0) needs.push('tools')
  if (isStructured(format)) needs.push('structured_output')
  if (effort !== undefined && effort !== null) needs.push('reasoning')
  return baseAsk(caller, 'llm', routing, language, needs)
}

function isStructured(format: unknown): boolean {
  const type = typeof format === 'object' && format !== null && 'type' in format ? format.type : null
  return type === 'json_schema' || type === 'json_object'
}

function portOf({ llm }: ProviderPorts): PassThrough {
  if (!llm) throw new ProviderError('unsupported', { sent: false })
  return llm.chat ?? translated(llm)
}

function requestFor({ model }: Row, { body, maxTokens }: ChatOrder): PassThroughRequest {
  return maxTokens === undefined ? { model: model.id, body } : { model: model.id, body, maxOutputTokens: maxTokens }
}

function identityOf(deps: DispatchDeps, { requestId }: ChatOrder, { provider, model }: Route): Identity {
  const created = Math.floor(deps.clock.nowMs() / 1000)
  return { id: `chatcmpl-${requestId}`, created, model: modelName(provider, model) }
}

type Begun = { first: PassThroughPart; rest: AsyncIterator<PassThroughPart> }

function beginAt(order: ChatOrder): Plan<Begun>['run'] {
  return async (row, call, ports) => {
    const rest = begin(call, portOf(ports).stream(requestFor(row, order), call))
    const first = await rest.next()
    if (first.done) throw new ProviderError('empty', { sent: true })
    return { first: first.value, rest }
  }
}

/**
 * The chunks of one stream, and how its exchange ends: what `follow` and `deliver` do for others, in one plain iterator, because each layer
 * more is paid for by every chunk. Usage is taken out of the chunks wherever the provider put it, and is a last chunk of its own for
 * clients that asked for it.
 */
class Chunks implements AsyncIterableIterator<CompletionChunk> {
  readonly #exchange: DispatchedRequest<Begun>
  readonly #identity: Identity
  readonly #order: ChatOrder
  readonly #idleMs: number
  #first: PassThroughPart | null
  #usage: PassThroughUsage | null = null
  #characters = 0
  #owesUsage: boolean

  constructor(exchange: DispatchedRequest<Begun>, identity: Identity, order: ChatOrder, idleMs: number) {
    this.#exchange = exchange
    this.#identity = identity
    this.#order = order
    this.#idleMs = idleMs
    this.#first = exchange.value.first
    this.#owesUsage = asksForUsage(order.body)
    exchange.signal.onEnd((error) => this.#fail(error))
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<CompletionChunk>> {
    const { signal, value } = this.#exchange
    try {
      for (;;) {
        let part = this.#first
        this.#first = null
        if (part === null) {
          // The provider may be silent for so long; a reader that takes its time is not held against it.
          signal.expect(this.#idleMs)
          const next = await signal.guard(value.rest.next())
          signal.rest()
          if (next.done) return this.#last()
          part = next.value
        }
        this.#characters += part.characters
        this.#usage = part.usage ?? this.#usage
        if (part.content.length > 0) return { value: this.#chunk(part.content), done: false }
      }
    } catch (error) {
      throw this.#fail(error)
    }
  }

  async return(): Promise<IteratorResult<CompletionChunk>> {
    this.#fail(new ProviderError('cancelled', { sent: true }))
    await this.#exchange.value.rest.return?.()
    return { value: undefined, done: true }
  }

  /** A reader who leaves has had what was written so far; the provider never says how much that was. */
  #fail(error: unknown): unknown {
    const isCancelled = !(error instanceof ProviderError) || error.errorClass === 'cancelled'
    return this.#exchange.fail(error, isCancelled ? chatSoFar(this.#order, this.#characters) : [])
  }

  #last(): IteratorResult<CompletionChunk> {
    if (this.#owesUsage && this.#usage) {
      this.#owesUsage = false
      const chunk = this.#chunk([])
      chunk.usage = this.#usage.raw
      return { value: chunk, done: false }
    }
    const quantities = this.#usage ? quantitiesOf(this.#usage.counts) : []
    this.#exchange.succeed(quantities, { firstByteMs: this.#exchange.elapsedMs })
    return { value: undefined, done: true }
  }

  #chunk(choices: readonly unknown[]): CompletionChunk {
    const { id, created, model } = this.#identity
    return { id, object: 'chat.completion.chunk', created, model, choices }
  }
}

function asksForUsage({ stream_options: options }: ChatOrder['body']): boolean {
  return typeof options === 'object' && options !== null && 'include_usage' in options && options.include_usage === true
}
