import { type LanguageWords, soundsOfListening, wordsOfLanguage } from './languages.ts'
import { Phrases, plain } from './phrases.ts'

/** With more words, it is a turn. */
const wordsMax = 3
const cachedPhrases = new WeakMap<LanguageWords, Phrases>()

/** True if the caller only shows that he listens. A text without words is no backchannel. */
export function isBackchannel(text: string, language: string): boolean {
  const count = phrasesOf(wordsOfLanguage(language)).countIn(withoutLongSounds(plain(text)), wordsMax)
  return count !== null && count > 0 && plain(text).split(' ').length <= wordsMax
}

function phrasesOf(words: LanguageWords): Phrases {
  const phrases = cachedPhrases.get(words) ?? new Phrases(soundsOfListening, words.backchannels)
  cachedPhrases.set(words, phrases)
  return phrases
}

/** "mmmmhmmm" becomes "mmhmm", because no word has a letter three times. */
function withoutLongSounds(text: string): string {
  return text.replaceAll(/(\p{L})\1{2,}/gu, '$1$1')
}
