/** What the rules need to know about a language. Each language is a file beside this one. */
import type { Rule } from './rule.ts'

export const languageTags = ['en', 'de', 'es', 'fr', 'it'] as const
export type LanguageTag = (typeof languageTags)[number]

export type Gender = 'm' | 'f' | 'n'

/** A unit with its forms for one and for several. */
export type Noun = { one: string; more: string; gender: Gender }

/** A currency. `minor` is the hundredth, or null if prices have no decimals. */
export type Currency = { major: Noun; minor: Noun | null }

/** Words that the shared rules put between the parts of a form. */
export type Phrases = {
  minus: string
  plus: string
  /** Between the numbers of a range. */
  to: string
  /** The decimal mark. */
  point: string
  /** The full stop in an address or a version. */
  dot: string
  /** Between an amount and its hour, month or kilogram: "five euros per month". */
  per: string
  /** "#5". */
  number: string
  /** "#parley". */
  hashtag: string
  /** Behind a number or a letter with a raised 2, a raised 3, and before any other raised number. */
  squared: string
  cubed: string
  power: string
  /** A word in a script that the voice cannot read. */
  foreign: string
  /** A sign without a word. */
  sign: string
  /** Before the short number behind a phone number. */
  extension: string
  and: string
  or: string
  /** Joins a scale and the noun behind it, as in "millones de euros". */
  ofScale: (scale: string, noun: string) => string
  /** Joins the whole units and the hundredths of an amount: "five euros and fifty cents". */
  money: (major: string, minor: { amount: string; noun: string }) => string
  /** Writes letters so that a voice says their names. */
  letters: (letters: readonly string[]) => string
}

export type Language = {
  tag: LanguageTag
  decimalMark: '.' | ','
  /** Characters between groups of three digits, as a class of characters. */
  groupMarks: string
  /** True if the voice gets ASCII letters only. */
  isAscii: boolean
  phrases: Phrases
  /** Returns the words for a whole number of at most 15 digits. */
  cardinal: (digits: string, gender?: Gender) => string
  /** Returns the words for the digits behind the decimal mark. */
  decimals: (digits: string) => string
  /** Returns the words for a number of four digits that may be a year. */
  year: (digits: string) => string
  /** Returns the words for a group of digits in a phone number. */
  phoneGroup: (digits: string) => string
  /** Returns the words for a part of one, such as three quarters. `noun` is the word behind the fraction. */
  fraction: (numerator: number, denominator: number, noun: string) => string
  /** Returns the words for a whole number, given as digits, with a fraction and its noun: "two and a half cups". */
  mixed: (whole: string, numerator: number, denominator: number, noun: string) => string
  /** Returns the gender of a plain word, as far as its ending shows it. */
  genderOf: (word: string) => Gender | undefined
  units: ReadonlyMap<string, Noun>
  currencies: ReadonlyMap<string, Currency>
  /** Short forms for millions and more, with the words for one and for several. */
  scales: ReadonlyMap<string, Noun>
  /** Signs and their words. */
  signs: ReadonlyMap<string, string>
  /** The words for signs inside an address. */
  addressSigns: ReadonlyMap<string, string>
  abbreviations: ReadonlyMap<string, string>
  /** Words before a number that is spoken digit by digit, such as "code". */
  codeWords: string
  /** "v2.1". */
  versionWord: string
  /** The written forms of this language only: dates, times, ordinals. */
  rules: (language: Language) => Rule[]
}

/** Returns the language whose rules read a text with this tag. Texts in other languages are read like English. */
export function languageTagOf(tag: string): LanguageTag {
  const primary = tag.toLowerCase().split(/[-_]/)[0]
  return languageTags.find((known) => known === primary) ?? 'en'
}
