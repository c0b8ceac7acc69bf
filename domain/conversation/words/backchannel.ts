import { type LanguageWords, soundsOfListening, wordsOfLanguage } from './languages.ts'
import { Phrases, plain } from './phrases.ts'

/** A text with more words is a turn instead of a backchannel. */
const wordsMax = 3
const cachedPhrases = new WeakMap<LanguageWords, Phrases>()

/**
 * Returns true if the words only show that the caller is listening, such as "mhm". If a text has no words, the result
 * is false.
 */
export function isBackchannel(text: string, language: string): boolean {
  const count = phrasesOf(wordsOfLanguage(language)).countIn(withoutLongSounds(plain(text)), wordsMax)
  return count !== null && count > 0 && plain(text).split(' ').length <= wordsMax
}

function phrasesOf(words: LanguageWords): Phrases {
  const phrases = cachedPhrases.get(words) ?? new Phrases(soundsOfListening, words.backchannels)
  cachedPhrases.set(words, phrases)
  return phrases
}

/** Shortens drawn-out sounds: "mmmmhmmm" becomes "mmhmm". No word has a letter three times in a row. */
function withoutLongSounds(text: string): string {
  return text.replaceAll(/(\p{L})\1{2,}/gu, '$1$1')
}
