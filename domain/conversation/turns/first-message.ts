/**
 * Decides whether the agent says its first message again. In an outgoing call the agent speaks first, but most people
 * greet as soon as they have picked up, and so interrupt the first message.
 */
import type { LlmItem } from '../../ports/llm.ts'
import type { Call } from '../../records/call.ts'
import { sameWords } from '../words/user-text.ts'

/** The maximum for the words in a greeting, and for the played words in the interrupted first message. */
const greetingWordsMax = 3
/** Splits by the dictionary in languages without spaces. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })

type OpenedCall = Pick<Call, 'phone'> & { pipeline: Pick<Call['pipeline'], 'firstMessage' | 'firstMessageMode'> }

/**
 * Returns the first message if the agent must say it again after a person's words, otherwise null. `items` are the
 * conversation before these words.
 */
export function firstMessageAfter(words: string, items: readonly LlmItem[], call: OpenedCall): string | null {
  const { firstMessage, firstMessageMode } = call.pipeline
  if (call.phone?.direction !== 'outbound' || firstMessageMode !== 'message' || firstMessage === null) return null
  if (items.some((item) => item.type === 'message' && item.role === 'user')) return null
  const played = items
    .flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? [item.text] : []))
    .join(' ')
  if (sameWords(played, firstMessage)) return null
  return [words, played].every(isShort) ? firstMessage : null
}

function isShort(text: string): boolean {
  const words = [...segmenter.segment(text)].filter(({ isWordLike }) => isWordLike)
  return words.length <= greetingWordsMax
}
