/**
 * The voice loop sends instructions to the agent in brackets as user text, for example to ask a silent caller a
 * question. The scripted model answers an instruction with a fixed sentence. It must not search the prompt for the
 * instruction's words, because the caller has not said them.
 */
import type { ScriptLanguage } from './languages/script-language.ts'

type Says = ScriptLanguage['says']

const joined = /^\[The caller has joined\b/
const answers: readonly { when: RegExp; say: keyof Says }[] = [
  { when: /^\[The caller has said nothing\b/, say: 'stillThere' },
  { when: /^\[The caller has said something, and no word\b/, say: 'sayAgain' },
  { when: /^\[The call was not transferred\b.*\boffer to take a message\.\]$/s, say: 'notConnectedTakesMessage' },
  { when: /^\[The call was not transferred\b/, say: 'notConnected' },
]

/** Returns true if the text asks the agent to greet a caller. The prompt has the words for this. */
export const asksForGreeting = (said: string): boolean => joined.test(said)

export const isHint = (said: string): boolean => joined.test(said) || answers.some(({ when }) => when.test(said))

/** Returns the fixed sentence for an instruction. Null for a request to greet, and for a user's words. */
export function answerToHint(said: string, says: Says): string | null {
  const answer = answers.find(({ when }) => when.test(said))
  return answer === undefined ? null : says[answer.say]
}
