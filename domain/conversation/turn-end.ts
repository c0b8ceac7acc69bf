/** Judges by the words of a transcript whether its speaker is likely to go on. */
import { type LanguageWords, wordsOfLanguage } from './languages.ts'
import { Phrases, plain } from './phrases.ts'

/** The end of a transcript is enough, and its length must not cost. */
const readCharactersMax = 200
const opened = /(?:[,;:–—-]|\.\.\.|…|、|，|；|：)\s*$/u
const asked = /[?？]\s*$/u
/** Digits that are spoken one by one: a number that has as many as these may be complete. */
const digitsMin = 2
const digitsWhole = 7
const known = new WeakMap<LanguageWords, Phrases>()

/** False: the speaker is likely to go on after a pause, because the text ends with an open clause or within a number. */
export function looksFinished(text: string, language: string): boolean {
  const end = text.trimEnd().slice(-readCharactersMax)
  if (opened.test(end)) return false
  if (asked.test(end)) return true
  const words = plain(end)
  if (words === '') return false
  return !phrasesOf(wordsOfLanguage(language)).end(words) && !isWithinNumber(words)
}

function phrasesOf(words: LanguageWords): Phrases {
  const phrases = known.get(words) ?? new Phrases(words.unfinished)
  known.set(words, phrases)
  return phrases
}

const spokenDigits = new Set(
  [
    'zero one two three four five six seven eight nine oh double triple',
    'null eins zwei zwo drei vier fünf sechs sieben acht neun',
    'cero uno dos tres cuatro cinco seis siete ocho nueve',
    'zéro un deux trois quatre cinq six sept huit neuf',
    'due tre quattro cinque sei sette otto nove',
    'um dois três quatro sete oito',
    'nul een twee drie vijf zes zeven negen',
    'ноль один два три четыре пять шесть семь восемь девять',
  ].flatMap((words) => words.split(' ')),
)

/** "five five five" and "555 12": a number that is dictated and has too few digits. */
function isWithinNumber(words: string): boolean {
  let digits = 0
  let groups = 0
  for (const word of words.split(' ').toReversed()) {
    const length = /^\d+$/.test(word) ? word.length : Number(spokenDigits.has(word))
    if (length === 0) break
    digits += length
    groups++
  }
  return groups >= digitsMin && digits < digitsWhole
}
