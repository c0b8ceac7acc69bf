/**
 * Decides whether the agent says its first message again. In an outgoing call the agent speaks first, but most people
 * greet as soon as they have picked up, and so interrupt the first message before they have heard it.
 */
import type { LlmItem } from '../../ports/llm.ts'
import type { Call } from '../../records/call.ts'
import { wordsOf } from '../words/user-text.ts'

/** The maximum for the words in a greeting, and for the played words in the first message. */
const greetingWordsMax = 3

export type CalledPerson = Pick<Call, 'kind'> & {
  pipeline: Pick<Call['pipeline'], 'firstMessage' | 'firstMessageMode'>
}

/**
 * Returns the first message if it answers a person's words, otherwise null. `items` are the conversation before these
 * words.
 */
export function firstMessageAfter(words: string, items: readonly LlmItem[], call: CalledPerson): string | null {
  const { firstMessage, firstMessageMode } = call.pipeline
  if (call.kind !== 'outbound' || firstMessageMode !== 'message' || firstMessage === null) return null
  const turns = items.flatMap((item) => (item.type === 'message' && item.role !== 'system' ? [item] : []))
  const played = turns.map(({ text }) => text).join(' ')
  const isFirst = turns.every(({ role }) => role === 'assistant')
  return isFirst && [words, played].every((text) => wordsOf(text).length <= greetingWordsMax) ? firstMessage : null
}
