/** Chat completions over the operation `generate`, for the routes that answer with them and for those that read them. */
import type { DispatchDeps, Route } from '../../../domain/dispatch/request.ts'
import { createGenerate } from '../../../domain/llm/generate.ts'
import {
  type ChatAnswer,
  type ChatInput,
  type CompletionChunk,
  createChatTranslation,
  type Identity,
  identityOf,
} from './chat-translation.ts'
import { chatPointers, rethrownWith } from './unsupported-fields.ts'

export type Completion = Identity & ChatAnswer & { object: 'chat.completion' }
/** `ignored` names the fields of the body that the model did not get. */
export type Completed = { route: Route; completion: Completion; ignored: readonly string[] }
/** `chunks` is to be read once; its iteration throws a Fault when the provider breaks off. */
export type ChatStream = { route: Route; chunks: AsyncIterable<CompletionChunk>; ignored: readonly string[] }

/** Both throw a Fault. */
export type Chat = {
  /** Fails over until a provider has answered. */
  complete(input: ChatInput): Promise<Completed>
  /** Resolves with the first content. */
  stream(input: ChatInput): Promise<ChatStream>
}

const rethrown = rethrownWith(chatPointers)

export function createChat(deps: DispatchDeps): Chat {
  const generate = createGenerate(deps, createChatTranslation(deps.clock))
  return {
    async complete(input) {
      const { route, answer, ignored } = await generate.whole(input).catch(rethrown)
      const { id, created, model } = identityOf(input, route, deps.clock)
      const completion: Completion = { id, object: 'chat.completion', created, model, choices: answer.choices }
      if (answer.usage) completion.usage = answer.usage
      return { route, completion, ignored }
    },
    async stream(input) {
      const { route, events, ignored } = await generate.stream(input).catch(rethrown)
      return { route, chunks: events, ignored }
    },
  }
}
