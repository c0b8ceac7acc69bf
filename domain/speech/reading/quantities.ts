/** Numbers with units, fractions, and plain numbers. */
import type { Language } from './language.ts'
import { perPattern, perUnit } from './money.ts'
import { cardinalOf, counted, digitByDigit, isOne, numberPattern, scaled, spokenNumber, writtenOf } from './numbers.ts'
import { anyOf, gap, isAtEnd, type Rule, rule, wordEnd } from './rule.ts'

const fractionSigns: Readonly<Record<string, readonly [numerator: number, denominator: number]>> = {
  '½': [1, 2],
  '⅓': [1, 3],
  '⅔': [2, 3],
  '¼': [1, 4],
  '¾': [3, 4],
  '⅕': [1, 5],
  '⅖': [2, 5],
  '⅗': [3, 5],
  '⅘': [4, 5],
  '⅙': [1, 6],
  '⅚': [5, 6],
  '⅐': [1, 7],
  '⅛': [1, 8],
  '⅜': [3, 8],
  '⅝': [5, 8],
  '⅞': [7, 8],
  '⅑': [1, 9],
  '⅒': [1, 10],
}
export const fractionClass = `[${Object.keys(fractionSigns).join('')}]`
/** Other numbers with a slash, such as 24/7, are not fractions. */
const denominators = new Set([2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 64, 100])

/** Numbers of at least this length are spoken digit by digit, unless they are round. */
const codeDigitsMin = 7

export function quantityRules(language: Language): Rule[] {
  return [...anglesOf(language), ...unitsOf(language), ...numbersOf(language)]
}

export function fractionRules(language: Language): Rule[] {
  const { units, currencies } = language
  const symbols = anyOf([...units.keys()].filter((key) => key !== '"'))
  const behind = `(?:[\\s\\u00a0\\u202f-]?(€|£|\\$|${symbols}${wordEnd})|[ \\u00a0\\u202f](\\p{L}{1,30}))?`
  const nounOf = (symbol = '') =>
    units.get(symbol) ?? currencies.get({ '€': 'EUR', '£': 'GBP', $: 'USD' }[symbol] ?? '')?.major
  const read = (whole: string | undefined, [over, under]: readonly [number, number], symbol = '', word = '') => {
    const noun = nounOf(symbol)
    // If the currency's symbol comes first, the next word is not the fraction's noun.
    const rest = noun === undefined ? '' : word
    if (whole !== undefined) return `${language.mixed(whole, over, under, noun?.more ?? word)} ${rest}`.trimEnd()
    const part = noun?.one ?? word
    return [language.fraction(over, under, part), part, rest].filter((words) => words !== '').join(' ')
  }
  const sign = `([€£$]?)${gap}?(\\d{1,6})?${gap}?(${fractionClass})${behind}`
  return [
    rule(['digit', 'sign'], sign, ([, prefix, whole, fraction = '', symbol, word]) => {
      const parts = fractionSigns[fraction]
      return parts === undefined ? null : read(whole, parts, prefix || symbol, word)
    }),
    rule(
      'digit',
      String.raw`(?:(\d{1,4})[ \u00a0-])?(\d{1,2})[ \u00a0]?[/⁄][ \u00a0]?(\d{1,3})(?![\d/⁄]|[.,]\d)${behind}`,
      ([, whole, over, under, symbol, word]) => {
        const parts = [Number(over), Number(under)] as const
        const isFraction = parts[0] > 0 && parts[0] < parts[1] && denominators.has(parts[1])
        return isFraction ? read(whole, parts, symbol, word) : null
      },
    ),
  ]
}

/** Feet and inches, or minutes and seconds after degrees. */
function anglesOf(language: Language): Rule[] {
  const noun = (symbol: string) => language.units.get(symbol)
  const count = (digits: string | undefined, symbol: string) => {
    const of = noun(symbol)
    return digits === undefined || of === undefined ? [] : [counted(writtenOf(digits, language), of, language)]
  }
  const seconds = String.raw`(\d{1,2}(?:[.,]\d{1,4})?)["″]`
  return [
    rule('digit', `(\\d{1,3})[°º]${gap}?(\\d{1,2})[′']${gap}?(?:${seconds})?`, ([, degrees, minutes, rest]) =>
      [...count(degrees, '°'), ...count(minutes, 'min'), ...count(rest, 's')].join(' '),
    ),
    rule('digit', `(\\d{1,3})[′']${gap}?${seconds}`, ([, feet, inches]) => {
      const isAngle = Number(inches?.replace(',', '.')) >= 12
      return [...count(feet, isAngle ? 'min' : '′'), ...count(inches, isAngle ? 's' : '″')].join(' ')
    }),
  ]
}

function unitsOf(language: Language): Rule[] {
  const { units, scales } = language
  const number = numberPattern(language)
  const symbols = anyOf(units.keys())
  const long = [...scales.keys()].filter((key) => key.length > 1 || key === 'M')
  return [
    rule('digit', `(${number})(?:(${gap}?)|[-‑])(${symbols})${wordEnd}${perPattern(language)}`, (match) => {
      const [, text = '', space, symbol = '', per] = match
      const noun = units.get(symbol)
      if (noun === undefined || isPlural(symbol, space)) return null
      const written = writtenOf(text, language)
      const spoken =
        space === undefined
          ? `${spokenNumber(written, language, noun.gender)} ${noun.one}`
          : counted(written, noun, language)
      const isLast = symbol.endsWith('.') && isAtEnd(match)
      return `${spoken}${perUnit(per, language)}${isLast ? '.' : ''}`
    }),
    rule('digit', `(${number})(?:k|K)${wordEnd}`, ([, text = '']) =>
      spokenNumber(scaled(writtenOf(text, language), 3), language),
    ),
    rule('digit', `(${number})${gap}?(${anyOf(long)})${wordEnd}`, ([, text = '', short = '']) => {
      const noun = scales.get(short)
      return noun === undefined ? null : counted(writtenOf(text, language), noun, language)
    }),
  ]
}

/** "The 5s" are several fives, "5 s" are seconds. */
function isPlural(symbol: string, space: string | undefined): boolean {
  return symbol === 's' && space === ''
}

function numbersOf(language: Language): Rule[] {
  const number = numberPattern(language)
  return [
    rule(
      'digit',
      `(?<=(?:^|[^\\p{L}])(?:${language.codeWords})(?: \\p{L}{1,8}){0,2}:?\\s)\\d{2,12}(?![\\d.,:]\\d)(?!\\d)`,
      ([digits]) => digitByDigit(digits, language),
      'i',
    ),
    rule('digit', String.raw`\d{1,400}(?![\d]|[.,]\d)`, ([digits]) => {
      const isCode = digits.length >= codeDigitsMin && !/^[1-9]\d*000$/.test(digits)
      return isCode || /^0\d/.test(digits) ? inGroups(digits, language) : null
    }),
    rule('digit', String.raw`(\d{1,9})[.,](\d{1,40})(?![.,]?\d)`, ([written, whole = '', decimals = '']) => {
      if (decimals.length === 3 || written.includes(language.decimalMark) || language.decimalMark === '.') return null
      return `${cardinalOf(whole, language)} ${language.phrases.dot} ${language.decimals(decimals)}`
    }),
    rule('digit', `24\\/7${wordEnd}`, () => `${language.cardinal('24')} ${language.cardinal('7')}`),
    rule('digit', String.raw`\d{4}(?![\d]|[.,]\d)(?!${gap}?\p{L}*[€$£%°])`, ([digits]) => language.year(digits)),
    rule('digit', `(${number})(?:(?=(?:${gap}|-)(\\p{L}{1,30}))|)`, ([, text = '', word = '']) => {
      const written = writtenOf(text, language)
      return spokenNumber(
        written,
        language,
        isOne(written) || written.decimals === '' ? language.genderOf(word) : undefined,
      )
    }),
    rule('sign', `(?<![\\p{L}\\p{N}])[${language.decimalMark}](\\d{1,40})(?![.,]?\\d)`, ([, decimals = '']) =>
      spokenNumber({ whole: '', decimals }, language),
    ),
  ]
}

/** Long numbers are read in groups, with a pause between them. */
export function inGroups(digits: string, language: Language): string {
  const groups = digits.match(digits.length % 4 === 0 ? /\d{4}/g : /\d{4}$|\d{3}(?!\d$)|\d{1,4}/g) ?? []
  return digits.length <= 5
    ? digitByDigit(digits, language)
    : groups.map((group) => digitByDigit(group, language)).join(', ')
}
