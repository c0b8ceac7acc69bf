/** Takes written numbers apart, and reads them by a language's number words. */
import type { Gender, Language, Noun } from './language.ts'
import { rowsOf } from './rule.ts'

/** Numbers with more digits than this are spoken digit by digit. */
const cardinalDigitsMax = 15

/** A written number: "1,234.50" has the whole part "1234" and the decimals "50". */
export type Written = { whole: string; decimals: string }

/**
 * Numbers with both marks in another language's order, by the decimal mark of the text's language: "1.234,56" in
 * English, and "1,234.56" in German.
 */
const foreignNumbers = {
  '.': String.raw`\d{1,3}(?:\.\d{3}){1,6},\d{1,2}(?!\d)`,
  ',': String.raw`\d{1,3}(?:,\d{3}){1,6}\.\d{1,2}(?!\d)`,
}
const isForeign = {
  '.': new RegExp(`^${foreignNumbers['.']}$`),
  ',': new RegExp(`^${foreignNumbers[',']}$`),
}

/** Returns the pattern for a number with group marks and decimals. The pattern has no capture group. */
export function numberPattern({ decimalMark, groupMarks }: Language): string {
  const mark = decimalMark === '.' ? String.raw`\.` : ','
  const foreign = String.raw`${foreignNumbers[decimalMark]}(?![.,]\d)`
  return String.raw`(?:${foreign}|(?:\d{1,3}(?:[${groupMarks}]\d{3}){1,6}(?!\d)|\d{1,400})(?:${mark}\d{1,40})?(?!\d))`
}

/** Splits a match for `numberPattern` into its integer digits and its decimals. */
export function writtenOf(text: string, { decimalMark }: Language): Written {
  const lastMark = Math.max(text.lastIndexOf('.'), text.lastIndexOf(','))
  const at = isForeign[decimalMark].test(text) ? lastMark : text.indexOf(decimalMark)
  const digits = (part: string) => part.replace(/\D/g, '')
  return at < 0
    ? { whole: digits(text), decimals: '' }
    : { whole: digits(text.slice(0, at)), decimals: digits(text.slice(at + 1)) }
}

/** Reads a number as an amount: "0.5" as "zero point five". */
export function spokenNumber({ whole, decimals }: Written, language: Language, gender?: Gender): string {
  const { phrases } = language
  const head = cardinalOf(whole === '' ? '0' : whole, language, decimals === '' ? gender : undefined)
  return decimals === '' ? head : `${head} ${phrases.point} ${language.decimals(decimals)}`
}

export function cardinalOf(digits: string, language: Language, gender?: Gender): string {
  const significant = digits.replace(/^0+(?=\d)/, '')
  return significant.length > cardinalDigitsMax
    ? digitByDigit(digits, language)
    : language.cardinal(significant, gender)
}

export function digitByDigit(digits: string, language: Language): string {
  return [...digits].map((digit) => language.cardinal(digit)).join(' ')
}

/** Moves the decimal mark to the right: 1.5 moved by three digits is 1500. */
export function scaled({ whole, decimals }: Written, places: number): Written {
  const moved = decimals.slice(0, places).padEnd(places, '0')
  return { whole: `${whole}${moved}`.replace(/^0+(?=\d)/, ''), decimals: decimals.slice(places) }
}

export function isOne({ whole, decimals }: Written): boolean {
  return /^0*1$/.test(whole) && decimals === ''
}

export function counted(written: Written, noun: Noun, language: Language): string {
  return `${spokenNumber(written, language, noun.gender)} ${isOne(written) ? noun.one : noun.more}`
}

/** Returns groups with three digits and their powers (1 for thousands), the highest first. Zero groups are left out. */
export function groupsOf(digits: string): { value: number; power: number }[] {
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0')
  const groups = padded.match(/\d{3}/g) ?? []
  return groups
    .map((group, index) => ({ value: Number(group), power: groups.length - 1 - index }))
    .filter(({ value }) => value > 0)
}

/** Reads decimals as a number if they are few, otherwise digit by digit. Leading zeros are always spoken. */
export function decimalsAsNumber(digits: string, cardinal: (digits: string) => string): string {
  const [, zeros = '', rest = ''] = /^(0*)(\d*)$/.exec(digits) ?? []
  const tail = rest.length > 3 ? [...rest].map((digit) => cardinal(digit)) : rest === '' ? [] : [cardinal(rest)]
  return [...[...zeros].map(() => cardinal('0')), ...tail].join(' ')
}

/**
 * Reads a table with a unit in each row: its symbols, the word for one, the word for several, and the gender if it is
 * not masculine. Several symbols are separated by commas.
 */
export function nounsOf(table: string): Map<string, Noun> {
  return new Map(
    rowsOf(table).flatMap(([symbols = '', one = '', more = one, gender = 'm']) =>
      symbols
        .split(',')
        .map((symbol): [string, Noun] => [symbol.trim(), { one, more: more || one, gender: gender as Gender }]),
    ),
  )
}

const romanValues: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50 }

/** Returns a Roman numeral's value, below 90. */
export function romanValue(numeral: string): number {
  const values = [...numeral].map((letter) => romanValues[letter] ?? 0)
  return values.reduce((sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value), 0)
}

/** Returns true if the numbers are a day and a month. */
export function isDate(day: string, month: string): boolean {
  return Number(day) >= 1 && Number(day) <= 31 && Number(month) >= 1 && Number(month) <= 12
}

/** Returns true if the numbers are a time of day. */
export function isTime(hour: string, minute: string): boolean {
  return Number(hour) <= 24 && Number(minute) <= 59
}
