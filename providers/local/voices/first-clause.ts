/** Cuts a request's first sentence, so that its audio begins early. */
import type { PlainSentence } from '../../../domain/speech/reading/sentences.ts'

/** A clause shorter than this would end before the rest of the sentence is synthesized on a busy machine. */
const clauseCharsMin = 12

/**
 * Returns the sentence, or if it is longer than `charsMax`, its first clause and the rest. A sentence without a comma
 * is not cut.
 */
export function firstClause({ text, sourcePlace }: PlainSentence, charsMax: number): PlainSentence[] {
  const comma = text.length > charsMax ? text.indexOf(', ', clauseCharsMin) : -1
  if (comma < 0) return [{ text, sourcePlace }]
  const rest = comma + ', '.length
  return [
    { text: text.slice(0, comma + 1), sourcePlace },
    { text: text.slice(rest), sourcePlace: (place) => sourcePlace(rest + place) },
  ]
}
