/** A language's words and patterns for the reading rules. Each language has a separate file in this folder. */
import type { Rule } from './rule.ts'

const languageTags = ['en', 'de', 'es', 'fr', 'it'] as const
export type LanguageTag = (typeof languageTags)[number]

export type Gender = 'm' | 'f' | 'n'

/** A noun, such as a unit, with its singular and plural. */
export type Noun = { one: string; more: string; gender: Gender }

/** A currency. `minor` is the hundredth, or null if prices have no decimals. */
export type Currency = { major: Noun; minor: Noun | null }

/** Words that the shared rules put between the parts of a written form. */
export type Phrases = {
  minus: string
  plus: string
  /** The word between two numbers in a range. */
  to: string
  /** The word for the decimal mark. */
  point: string
  /** The word for the dot in a web address, a mail address or a version. */
  dot: string
  /** The word between an amount and its hour, month or kilogram: "five euros per month". */
  per: string
  /** The word for # in "#5". */
  number: string
  /** The word for # in "#parley". */
  hashtag: string
  /** The words after a number or a letter for a raised 2, for a raised 3, and before any other raised number. */
  squared: string
  cubed: string
  power: string
  /** Replaces a word if the voice cannot read its script. */
  foreign: string
  /** Replaces a symbol that has no word. */
  sign: string
  /** The word between a phone number and its extension. */
  extension: string
  and: string
  or: string
  /** Joins a scale and the noun after it, as in "millones de euros". */
  ofScale: (scale: string, noun: string) => string
  /** Joins whole units and hundredths: "five euros and fifty cents". */
  money: (major: string, minor: { amount: string; noun: string }) => string
  /** Writes letters for a voice to say their names. */
  letters: (letters: readonly string[]) => string
}

export type Language = {
  tag: LanguageTag
  decimalMark: '.' | ','
  /** Characters between groups with three digits, for a class in a pattern. */
  groupMarks: string
  /** True if the voice gets ASCII letters only. */
  isAscii: boolean
  phrases: Phrases
  /** Returns the words for a whole number with at most 15 digits. */
  cardinal: (digits: string, gender?: Gender) => string
  /** Returns the words for the digits after the decimal mark. */
  decimals: (digits: string) => string
  /** Returns the words for a number with four digits, which may be a year. */
  year: (digits: string) => string
  /** Returns the words for a digit group in a phone number. */
  phoneGroup: (digits: string) => string
  /** Returns the words for a fraction, such as three quarters. `noun` is the word after the fraction. */
  fraction: (numerator: number, denominator: number, noun: string) => string
  /** Returns the words for a whole number, given as digits, with a fraction and its noun: "two and a half cups". */
  mixed: (whole: string, numerator: number, denominator: number, noun: string) => string
  /** Returns a plain word's gender, as far as its ending shows the gender. */
  genderOf: (word: string) => Gender | undefined
  units: ReadonlyMap<string, Noun>
  currencies: ReadonlyMap<string, Currency>
  /** Abbreviations for millions and larger numbers, with the singular and plural in words. */
  scales: ReadonlyMap<string, Noun>
  /** Symbols such as % and &, with the words for them. */
  signs: ReadonlyMap<string, string>
  /** The words for symbols inside a web or mail address. */
  addressSigns: ReadonlyMap<string, string>
  abbreviations: ReadonlyMap<string, string>
  /** After these words, such as "code", a number is spoken digit by digit. */
  codeWords: string
  /** The word for "v" in "v2.1". */
  versionWord: string
  /** Makes the rules for this language only: dates, times, ordinals. */
  rules: (language: Language) => Rule[]
}

/** Returns the language whose rules read a text with this tag. Texts in other languages are read like English. */
export function languageTagOf(tag: string): LanguageTag {
  const primary = tag.toLowerCase().split(/[-_]/)[0]
  return languageTags.find((known) => known === primary) ?? 'en'
}
