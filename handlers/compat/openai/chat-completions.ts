import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Route } from '../../../domain/dispatch/request.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { CompatHandlers, CreateChatCompletionEvent } from '../../../generated/compat/handlers.ts'
import type { ChatCompletion, ChatCompletionChunk } from '../../../generated/compat/types.ts'
import { routingOf } from '../../routing.ts'
import type { Chat } from './chat.ts'
import type { ChatInput, CompletionChunk } from './chat-translation.ts'
import { ignoredHeader, languageOf } from './context.ts'

export type ChatDeps = { chat: Chat; catalog: Catalog }

export function createChatCompletion({ chat, catalog }: ChatDeps): CompatHandlers<Caller>['createChatCompletion'] {
  return async ({ header, body }, context) => {
    // The fields are listed one by one, because spreading the context object takes more time than all other work on
    // this path.
    const { caller, requestId, operation, signal, trace, logFields } = context
    const routing = routingOf(catalog, 'llm', caller, { model: body.model })
    const input: ChatInput = { caller, requestId, operation, signal, trace, logFields, routing, body }
    const maxTokens = body.max_completion_tokens ?? body.max_tokens ?? body.max_token
    if (typeof maxTokens === 'number') input.maxOutputTokens = maxTokens
    const { language } = languageOf(header)
    if (language !== undefined) input.language = language
    if (body.stream) {
      const { route, chunks, ignored } = await chat.stream(input)
      const events = new Events(chunks[Symbol.asyncIterator]())
      return { status: 200, type: 'text/event-stream', headers: chatHeaders(route, ignored), body: events }
    }
    const { route, completion, ignored } = await chat.complete(input)
    // The cast is safe: the choices come from the provider, and the contract leaves their fields open.
    const answer = completion as unknown as ChatCompletion
    return { status: 200, type: 'application/json', headers: chatHeaders(route, ignored), body: answer }
  }
}

export function chatHeaders(route: Route, ignored: readonly string[]) {
  return {
    ...ignoredHeader(ignored),
    'Service-Attempt-ID': route.attemptId,
    'Service-Provider': route.provider,
    'Service-Model': route.model,
    'Cache-Control': 'no-store' as const,
    'x-route': `${route.provider}/${route.model}`,
  }
}

/**
 * Yields chunks as events, then `[DONE]`. Clients treat a stream with `[DONE]` as complete. So `[DONE]` is sent only
 * after an iteration without an error. This is a plain iterator, because a generator would take more time for each
 * chunk than all other work here.
 */
class Events implements AsyncIterableIterator<CreateChatCompletionEvent> {
  readonly #chunks: AsyncIterator<CompletionChunk>
  #done = false

  constructor(chunks: AsyncIterator<CompletionChunk>) {
    this.#chunks = chunks
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<CreateChatCompletionEvent>> {
    return this.#done ? Promise.resolve({ value: undefined, done: true }) : this.#chunks.next().then(this.#eventOf)
  }

  async return(): Promise<IteratorResult<CreateChatCompletionEvent>> {
    if (!this.#done) await this.#chunks.return?.()
    return { value: undefined, done: true }
  }

  readonly #eventOf = (next: IteratorResult<CompletionChunk>): IteratorResult<CreateChatCompletionEvent> => {
    if (!next.done) return { value: { data: next.value as unknown as ChatCompletionChunk }, done: false }
    this.#done = true
    return { value: { data: null, raw: '[DONE]' }, done: false }
  }
}
