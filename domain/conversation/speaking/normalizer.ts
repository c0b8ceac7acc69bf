import type { Pipeline } from '../../records/pipeline.ts'
import { withoutEmoji } from '../../speech/reading/emoji.ts'
import { chained, type TextStart, withoutMarks } from '../../speech/reading/markdown.ts'
import type { NormalizedSentence } from './agent-speech.ts'
import { Replacements } from './replacements.ts'

/**
 * Returns the function that prepares a sentence for the transcript and the voice. Text replacements change both. The
 * pronunciation dictionary, and the removal of Markdown and emoji, change only the speech. Providers' voices read
 * numbers and symbols themselves, so the text keeps them. The dictionary comes last, so a vendor's markup in it is sent
 * unchanged.
 */
export function normalizerOf({
  speechNormalization,
}: Pipeline): (sentence: string, start?: TextStart) => NormalizedSentence {
  const replaced = new Replacements(speechNormalization.textReplacements)
  const pronounced = new Replacements(speechNormalization.pronunciationDictionary)
  return (sentence, start) => {
    const { text } = replaced.in(sentence)
    const plain = withoutMarks(text, start)
    const words = withoutEmoji(plain.text)
    return { text, spoken: chained([plain, words, pronounced.in(words.text)]) }
  }
}
