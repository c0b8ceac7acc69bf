/** Amounts of money: "$4.50", "5 €", "€5–10", "€2.5bn", "USD 20", "5€50", "$5/month". */
import { codeOfSign } from './currencies.ts'
import type { Currency, Language, Noun } from './language.ts'
import { cardinalOf, counted, isOne, numberPattern, scaled, spokenNumber, type Written, writtenOf } from './numbers.ts'
import { anyOf, gap, isAtEnd, type Rule, rule, wordEnd } from './rule.ts'

/** A price with two decimals is also understood with the decimal mark of another language. */
const price = String.raw`\d{1,9}[.,]\d{2}(?!\d|[.,]\d)`
/** "5.–" and "5,-" are prices without cents. */
const noCents = String.raw`\d{1,9}[.,][-–—]{1,2}`
/** An amount without a whole part: "$.99" */
const centsAlone = String.raw`\.\d{2}(?!\d|[.,]\d)`
const thousands = 'k|K'

export function moneyRules(language: Language): Rule[] {
  const { currencies, scales } = language
  const codes = [...currencies.keys()].filter((code) => code !== 'CENT')
  const all = [...codeOfSign.keys(), ...codes]
  const letters = anyOf(all.filter((text) => /^\p{L}/u.test(text)))
  const others = anyOf(all.filter((text) => !/^\p{L}/u.test(text)))
  const amount = `(?:${noCents}|${price}|${numberPattern(language)})`
  const short = anyOf([...scales.keys()].filter((key) => key.length <= 2))
  const long = anyOf(
    [...scales.keys(), ...[...scales.values()].flatMap(({ one, more }) => [one, more])].filter((key) => key.length > 1),
  )
  const scale = `(?:(${thousands}|${short})|[\\s\\u00a0\\u202f-]?(${long}))`
  const range = String.raw`\s?[-–—]\s?`
  const per = perPattern(language)
  const currency = (text: string) => currencies.get(codeOfSign.get(text) ?? text)
  const money = (text: string, of: Currency | undefined, scaleText: string | undefined) =>
    of === undefined ? null : spokenMoney(writtenPrice(text, language), of, scaleText, language)

  const prefix = `(${others}|${letters}(?=${gap}?\\d))${gap}?(${centsAlone}|${amount})(?:${range}(?!${others})(${amount}))?(?:${scale}${wordEnd})?${per}`
  const suffix = `(${amount})(?:${gap}?(?:(${thousands}|${short})|(${long})))?[\\s\\u00a0\\u202f-]?(${others}|${letters}${wordEnd})${per}`
  const majors = anyOf([...currencies.values()].flatMap(({ major }) => [major.one, major.more]))
  return [
    rule('digit', `(${noCents})(?=${gap}${majors}${wordEnd})`, ([, text = '']) =>
      spokenNumber(writtenPrice(text, language), language),
    ),
    rule(['sign', 'letter'], prefix, (match) => {
      const [, of = '', first = '', last, short, long, unit] = match
      const spoken = money(last ?? first, currency(of), short ?? long)
      if (spoken === null) return null
      const from =
        last === undefined ? '' : `${spokenNumber(writtenPrice(first, language), language)} ${language.phrases.to} `
      return `${from}${spoken}${perUnit(unit, language)}`
    }),
    rule('digit', `(\\d{1,9})${gap}?(${others})(\\d{2})(?!\\d|[.,]\\d)`, ([, whole = '', of = '', decimals = '']) => {
      const named = currency(of)
      return named === undefined ? null : spokenMoney({ whole, decimals }, named, undefined, language)
    }),
    rule('digit', suffix, (match) => {
      const [, text = '', short, long, of = '', unit] = match
      const spoken = money(text, currency(of), short ?? long)
      const stop = of.endsWith('.') && isAtEnd(match) ? '.' : ''
      return spoken === null ? null : spoken + perUnit(unit, language) + stop
    }),
    rule('sign', others, ([of = '']) => currency(of)?.major.more ?? null),
  ]
}

/** Matches "/month" behind an amount. */
export function perPattern({ units }: Language): string {
  return `(?:${gap}?\\/${gap}?((?:${anyOf(units.keys())}(?![\\p{L}\\p{N}/]))|(?=\\p{L})))?`
}

/** Reads a match for `perPattern`: a unit's symbol, or '' before a plain word. */
export function perUnit(symbol: string | undefined, { units, phrases }: Language): string {
  if (symbol === undefined) return ''
  return ` ${phrases.per} ${units.get(symbol)?.one ?? ''}`.trimEnd()
}

function writtenPrice(text: string, language: Language): Written {
  if (new RegExp(`^${noCents}$`).test(text)) return { whole: text.replace(/\D/g, ''), decimals: '' }
  if (text.startsWith('.')) return { whole: '0', decimals: text.slice(1) }
  if (!new RegExp(`^${price}$`).test(text)) return writtenOf(text, language)
  return { whole: text.slice(0, -3), decimals: text.slice(-2) }
}

function spokenMoney(
  written: Written,
  { major, minor }: Currency,
  scaleText: string | undefined,
  language: Language,
): string {
  if (scaleText === undefined) return spokenPrice(written, { major, minor }, language)
  if (/^[kK]$/.test(scaleText)) return counted(scaled(written, 3), major, language)
  const noun = scaleOf(scaleText, language)
  return `${spokenNumber(written, language, noun.gender)} ${language.phrases.ofScale(isOne(written) ? noun.one : noun.more, major.more)}`
}

function scaleOf(text: string, { scales }: Language): Noun {
  const same = ({ one, more }: Noun) => one === text || more === text
  return scales.get(text) ?? [...scales.values()].find(same) ?? { one: text, more: text, gender: 'm' }
}

function spokenPrice(written: Written, { major, minor }: Currency, language: Language): string {
  const { whole, decimals } = written
  if (/^0*$/.test(decimals)) return spokenWhole(whole, major, language)
  if (minor === null || decimals.length !== 2) return counted(written, major, language)
  const cents = { whole: decimals.replace(/^0/, ''), decimals: '' }
  if (/^0*$/.test(whole)) return counted(cents, minor, language)
  const noun = isOne(cents) ? minor.one : minor.more
  const amount = cardinalOf(cents.whole, language, minor.gender)
  return language.phrases.money(counted({ whole, decimals: '' }, major, language), { amount, noun })
}

/** After whole millions, the noun needs the same link as after "Mio.": "deux millions d'euros". */
function spokenWhole(whole: string, major: Noun, language: Language): string {
  const written = { whole, decimals: '' }
  return /^0*[1-9]\d{0,8}000000$/.test(whole)
    ? language.phrases.ofScale(spokenNumber(written, language, major.gender), major.more)
    : counted(written, major, language)
}
