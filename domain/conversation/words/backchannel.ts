import { perLanguage } from './languages/languages.ts'
import { Phrases, plain } from './phrases.ts'

/** Listeners' sounds. Transcripts spell them alike in most languages. */
export const soundsOfListening = 'mhm|mm|mmm|hm|hmm|mm hmm|m hm|uh huh|aha|ah|oh|ok|okay'
/** A text with more words is a turn instead of a backchannel. */
const wordsMax = 3
const phrasesOf = perLanguage(({ turns }) => new Phrases(soundsOfListening, turns.backchannels))

/**
 * Returns true if the words only show that the caller is listening, such as "mhm". If a text has no words, the result
 * is false.
 */
export function isBackchannel(text: string, language: string): boolean {
  const count = phrasesOf(language).countIn(withoutLongSounds(plain(text)), wordsMax)
  return count !== null && count > 0 && plain(text).split(' ').length <= wordsMax
}

/** Shortens drawn-out sounds: "mmmmhmmm" becomes "mmhmm". No word has a letter three times in a row. */
function withoutLongSounds(text: string): string {
  return text.replaceAll(/(\p{L})\1{2,}/gu, '$1$1')
}
