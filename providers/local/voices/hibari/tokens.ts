/** Divides a sentence into words and pauses. */
import { isAbbreviation } from '../../../../domain/speech/reading/abbreviations.ts'
import { numberWords } from '../../recognition/number-words.ts'

/**
 * A word or a punctuation mark. `place` is the position in the sentence where the word ends. If a number is spoken as
 * several words, only the last word has a position.
 */
export type Token = { text: string; isPause: boolean; isAfterSpace: boolean; place: number | null }

/** A word, an abbreviation with full stops, a number, a symbol such as &, or punctuation. */
const token =
  /(?:[a-z]\.){2,}|[a-z][a-z']*(?:[.-][a-z']+)*|\$?\d(?:[\d.,:]*\d)?[a-z%]*|[&@%#+=/*]|\.{2,}|-{2,}| - |[;:,.!?()]/gi

/** Symbols and the words they are read as. */
const signs: Readonly<Record<string, string>> = {
  '&': 'and',
  '@': 'at',
  '%': 'percent',
  '#': 'number',
  '+': 'plus',
  '=': 'equals',
  '/': 'slash',
  '*': 'star',
}
/**
 * This many characters are tested for an abbreviation: the longest has seven, and the character before it is tested
 * too.
 */
const abbreviationMax = 12

/** `knows` is true for a word of the lexicon, which can contain hyphens. */
export function tokensOf(sentence: string, knows: (word: string) => boolean): Token[] {
  const tokens: Token[] = []
  for (const { 0: text, index } of sentence.matchAll(token)) {
    const end = index + text.length
    const words = /[a-z\d]/i.test(text) ? wordsOf(text, knows) : [signs[text] ?? ''].filter(Boolean)
    // A pause before the first word would change how the voice begins.
    if (words.length === 0 && tokens.length > 0 && !isSilent(sentence, end)) tokens.push(pause(text))
    const isAfterSpace = /\s/.test(sentence[index - 1] ?? '') || tokens.at(-1)?.isPause === false
    for (const [at, word] of words.entries()) {
      const place = at === words.length - 1 ? end : null
      tokens.push({ text: word, isPause: false, isAfterSpace: tokens.length > 0 && (at > 0 || isAfterSpace), place })
    }
  }
  // Without a punctuation mark at its end, a sentence sounds as if it were cut off.
  if (tokens.length > 0 && !tokens.at(-1)!.isPause) tokens.push(pause('.'))
  return tokens
}

function wordsOf(text: string, knows: (word: string) => boolean): string[] {
  if (/\d/.test(text)) return numberWords(text).flatMap((word) => wordsOf(word, knows))
  if (knows(text) || /^(?:[a-z]\.)+$/i.test(text)) return [text]
  return text
    .replaceAll('.', ' dot ')
    .split(/[ -]/)
    .map((word) => word.replace(/^'+|(?<!s)'+$/gi, ''))
    .filter((word) => word !== '')
}

function pause(text: string): Token {
  const mark = text.startsWith('..') ? '…' : text.includes('-') ? '—' : text
  return { text: mark, isPause: true, isAfterSpace: mark === '—' || mark === '(', place: null }
}

/** Returns true for an abbreviation's full stop inside a sentence. */
function isSilent(sentence: string, end: number): boolean {
  const behind = sentence.slice(end)
  return isAbbreviation(sentence.slice(Math.max(0, end - abbreviationMax), end), behind) && /[a-z\d]/i.test(behind)
}
