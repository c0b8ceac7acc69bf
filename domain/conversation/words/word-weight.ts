/** Estimates how long voices need for a word, as a number of letters. */
import { charactersOf } from '../../speech/characters.ts'
import { isUnspaced } from './phrases.ts'

/** Digits and symbols such as % are spoken as whole words, so each counts as this many letters. */
const signLetters = 6

export const endsPhrase = /[^\p{L}\p{N}]$/u

/** Returns a word's speaking time in letters. Words begin slowly, and the last word before a pause is drawn out. */
export function weightOf(word: string): number {
  const letters = lettersOf(word)
  if (letters === 0 || isUnspaced(word.charAt(0))) return letters
  return letters + 1 + (endsPhrase.test(word) ? 2 : 0)
}

/** Counts a text's letters as spoken: punctuation is silent, and a Chinese character counts as two letters. */
function lettersOf(text: string): number {
  let letters = 0
  for (const [character] of text.matchAll(/[\p{L}\p{N}\p{Sc}%&@+=]/gu)) {
    if (!/\p{L}/u.test(character)) letters += signLetters
    else letters += isUnspaced(character) ? 2 : charactersOf(character)
  }
  return letters
}
