/**
 * Chat completions over the operation `generate`. Some HTTP routes return the chat completion unchanged. Other routes
 * convert it to another form.
 */
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
/** `ignored` names the body's fields that the model did not get. */
export type Completed = { route: Route; completion: Completion; ignored: readonly string[] }
/** `chunks` can be read once. Its iteration throws a Fault if the provider breaks off. */
export type ChatStream = { route: Route; chunks: AsyncIterable<CompletionChunk>; ignored: readonly string[] }

export type Chat = {
  /** Tries providers until one has answered. Throws a Fault. */
  complete(input: ChatInput): Promise<Completed>
  /** Tries providers and resolves with the first content. Throws a Fault. */
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
