/** Recognizes texts that end inside a spelled name: "S, M, I" or "S as in Sam". */
import type { SpellingWords } from './languages/language-words.ts'
import { perLanguage } from './languages/languages.ts'

/** At least this many single letters and digits, such as "X 7 K", are a code. */
const codePartsMin = 3
/** At least this many words from the spelling alphabet need no announcement: "Alpha Bravo Charlie". */
const alphabetWordsMin = 3

const rulesOf = perLanguage(({ dictation: { spelling } }) => ({
  patterns: patternsOf(spelling),
  announced: new RegExp(`(?:^| )(?:${spelling.announcements})(?: |$)`, 'u'),
  names: new Set(spelling.letterNames?.split('|') ?? []),
  letterWords: new Set(spelling.letterWords.split('|')),
  alphabet: new Set(spelling.alphabet.split(' ')),
}))

/** Returns true if letters at the end spell an earlier word: "Smith, S M I T H". */
export function isSpelledOut(words: string): boolean {
  const list = words.normalize('NFD').replaceAll(/\p{M}/gu, '').split(' ')
  const letters = lettersAtEnd(list)
  return letters.length > 1 && list.slice(0, -letters.length).includes(letters.join(''))
}

/** Returns true if the text ends inside a spelled name or code. `words` is a result of `plain`. */
export function isWithinSpelling(words: string, language: string): boolean {
  const { patterns, letterWords } = rulesOf(language)
  const list = words.split(' ')
  const letters = lettersAtEnd(list)
  if (letterWords.has(letters.join(' '))) return false
  if (letters.length > 1 || isNamed(list, language)) return true
  return patterns.some((pattern) => pattern.test(words)) || isCode(list) || isAlphabet(list, words, language)
}

function patternsOf({ announcements, asIn, like, twice, letterNames }: SpellingWords): readonly RegExp[] {
  const letter = '\\p{Script=Latin}'
  const named = letterNames === undefined ? letter : `(?:${letter}|${letterNames})`
  const isFor = `(?:${[asIn, like].filter((each) => each !== '').join('|')})`
  return [
    `(?:^| )(?:${announcements}) ${letter}$`,
    ...(asIn === '' ? [] : [`(?:^| )${letter} (?:${asIn}) \\p{L}+$`]),
    `(?:^| )[b-df-hj-np-tv-xz] ${isFor} \\p{L}+$`,
    `(?:^| )${letter} ${isFor} \\p{L}+ ${letter} ${isFor} \\p{L}+$`,
    `(?:^| )${letter} ${isFor} \\p{L}+ ${letter}$`,
    `(?:^| )(?:${twice}) ${named}$`,
  ].map((source) => new RegExp(source, 'u'))
}

function lettersAtEnd(list: readonly string[]): readonly string[] {
  return list.slice(list.findLastIndex((word) => !isLetter(word)) + 1)
}

/**
 * Returns true if the words end with two letters, and at least one of them is written as its name, such as "ele, o".
 */
function isNamed(list: readonly string[], language: string): boolean {
  const { names } = rulesOf(language)
  const pair = list.slice(-2)
  return (
    pair.length > 1 && pair.every((word) => isLetter(word) || names.has(word)) && pair.some((word) => names.has(word))
  )
}

function isCode(list: readonly string[]): boolean {
  const parts = list.slice(list.findLastIndex((word) => !isLetter(word) && !/^\d$/.test(word)) + 1)
  const letters = parts.filter(isLetter).length
  return parts.length >= codePartsMin && letters >= 2 && letters < parts.length
}

function isAlphabet(list: readonly string[], words: string, language: string): boolean {
  const { alphabet, announced } = rulesOf(language)
  const count = list.length - 1 - list.findLastIndex((word) => !alphabet.has(word))
  return count >= alphabetWordsMin || (count > 0 && announced.test(words))
}

function isLetter(word: string): boolean {
  return /^\p{Script=Latin}$/u.test(word)
}
