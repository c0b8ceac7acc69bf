import type { Pipeline } from '../../records/pipeline.ts'
import type { NormalizedSentence } from './agent-speech.ts'
import { chained, type TextStart, withoutMarks } from '../../speech/reading/markdown.ts'
import { Replacements } from './replacements.ts'

/**
 * Returns the function that prepares a sentence for the transcript and the voice. Text replacements change both. The
 * pronunciation dictionary and the Markdown removal change only the speech.
 */
export function normalizerOf({
  speechNormalization,
}: Pipeline): (sentence: string, start?: TextStart) => NormalizedSentence {
  const replaced = new Replacements(speechNormalization.textReplacements)
  const pronounced = new Replacements(speechNormalization.pronunciationDictionary)
  return (sentence, start) => {
    const { text } = replaced.in(sentence)
    const plain = withoutMarks(text, start)
    return { text, spoken: chained([plain, pronounced.in(plain.text)]) }
  }
}
