import type { Pipeline } from '../sessions/pipeline.ts'
import type { NormalizedSentence } from './agent-speech.ts'
import { Replacements } from './replacements.ts'

/** Text replacements change the transcript and the speech, the dictionary only the speech. */
export function normalizerOf({ speechNormalization }: Pipeline): (sentence: string) => NormalizedSentence {
  const replaced = new Replacements(speechNormalization.textReplacements)
  const pronounced = new Replacements(speechNormalization.pronunciationDictionary)
  return (sentence) => {
    const { text } = replaced.in(sentence)
    return { text, spoken: pronounced.in(text) }
  }
}
