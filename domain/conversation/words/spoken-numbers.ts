/** Reads numbers in a plain text, written in digits or in words. */
import { perLanguage } from './languages/languages.ts'

/** The French "neuf cent quatre vingt dix neuf" is the longest spoken number. */
const numeralWordsMax = 6
const tableOf = perLanguage(({ dictation }) => dictation.numerals())

/** The digits at a text's end, such as "five five five" or "555 12", in groups, and the text before them. */
export type DictatedNumber = { groups: readonly string[]; before: string }

/** A spoken number with all its words, or another word. Other words have no digits. */
type Token = { text: string; digits: string | null }

export function digitsOf({ groups }: DictatedNumber): string {
  return groups.join('')
}

export function numberAtEnd(words: string, language: string): DictatedNumber {
  return endOf(tokensOf(words, language), ({ digits }) => digits !== null)
}

/** Finds only written digits and single spoken digits. Without an announcement, "twenty five" is an answer. */
export function digitByDigitAtEnd(words: string, language: string): DictatedNumber {
  const isSpokenPair = ({ text, digits }: Token) => digits !== null && text !== digits && /\d\d/.test(digits)
  return endOf(tokensOf(words, language), (token) => token.digits !== null && !isSpokenPair(token))
}

/** Writes spoken numbers in digits: "de eighty nine" becomes "de 89". */
export function withFigures(words: string, language: string): string {
  return tokensOf(words, language)
    .map(({ text, digits }) => digits ?? text)
    .join(' ')
}

function endOf(tokens: readonly Token[], isPart: (token: Token) => boolean): DictatedNumber {
  const beginsAt = tokens.findLastIndex((token) => !isPart(token)) + 1
  return {
    groups: tokens.slice(beginsAt).map(({ digits }) => digits ?? ''),
    before: tokens
      .slice(0, beginsAt)
      .map(({ text }) => text)
      .join(' '),
  }
}

function tokensOf(words: string, language: string): Token[] {
  const list = words.split(' ')
  const tokens: Token[] = []
  for (let at = 0; at < list.length; ) {
    const token = tokenAt(list, at, tableOf(language))
    tokens.push(token)
    at += token.text.split(' ').length
  }
  return tokens
}

function tokenAt(list: readonly string[], at: number, table: ReadonlyMap<string, string>): Token {
  const word = list[at] as string
  if (/^\d+$/.test(word)) return { text: word, digits: word }
  for (let words = Math.min(numeralWordsMax, list.length - at); words > 0; words--) {
    const text = list.slice(at, at + words).join(' ')
    const digits = table.get(text)
    if (digits !== undefined) return { text, digits }
  }
  return { text: word, digits: null }
}
