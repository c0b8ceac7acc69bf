/** Finds the message that a caller left with the agent after a failed transfer. */
import type { Turn } from '../records/call.ts'
import { asksForMessage } from './after-transfer.ts'

export const messageMax = 2_000

/** Returns null if the agent was not asked to take a message, or if the caller said nothing. */
export function callerMessage(turns: readonly Pick<Turn, 'source' | 'text' | 'metadata'>[]): string | null {
  const promptIndex = turns.findLastIndex(({ source, text }) => source === 'system' && asksForMessage(text))
  if (promptIndex < 0) return null
  const said = turns
    .slice(promptIndex + 1)
    .filter(({ source, metadata }) => source === 'user' && metadata['dtmf'] !== true)
  const message = said
    .map(({ text }) => text)
    .join(' ')
    .trim()
  return message === '' ? null : [...message].slice(0, messageMax).join('')
}
