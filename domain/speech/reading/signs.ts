/** Rules for symbols between words and numbers. A symbol that changes the meaning of a text is always spoken. */
import { codeOfSign } from './currencies.ts'
import type { Language } from './language.ts'
import { cardinalOf } from './numbers.ts'
import { fractionClass } from './quantities.ts'
import { anyOf, gap, type Rule, rule, wordEnd } from './rule.ts'

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'
const currencyClass = `[${[...codeOfSign.keys()].filter((sign) => /^\p{Sc}$/u.test(sign)).join('')}]`

/** Formulas name quantities with single Greek letters. */
const greekNames =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega'.split(
    ' ',
  )

const operators: Readonly<Record<string, string>> = {
  '->': '→',
  '-->': '→',
  '=>': '→',
  '<-': '←',
  '<->': '↔',
  '>=': '≥',
  '<=': '≤',
  '!=': '≠',
  '==': '=',
  '===': '=',
  '&&': '&',
  '+/-': '±',
  '+-': '±',
}

export function signRules(language: Language): Rule[] {
  const { phrases, signs } = language
  const word = (sign: string) => signs.get(sign) ?? null
  return [
    rule('sign', String.raw`(?<![\p{L}\p{N}])[:;8=][-o*']?[)(\]D](?=\s|$|[.!?,])`, () => ''),
    rule('sign', `(${anyOf(Object.keys(operators))})(?![-=<>+])`, ([sign]) => word(operators[sign] ?? '')),
    ...dashesOf(language),
    ...powersOf(language),
    rule('sign', '#(?=[A-Z]{0,5}-?\\d)', () => phrases.number),
    rule('sign', '#(?=[\\p{L}_])', () => phrases.hashtag),
    rule(['sign', 'space'], String.raw`(?<=\d)${gap}?\*${gap}?(?=\d)`, () => word('×')),
    rule(['sign', 'space'], String.raw`(?<=\d)${gap}?[·⋅∙]${gap}?(?=\d)`, () => word('×')),
    rule(['sign', 'space'], String.raw`(?<=\d)${gap}?[:∶]${gap}?(?=\d)`, () => phrases.to),
    rule('letter', String.raw`[xX](?=${gap}?\d)(?<=\d${gap}?[xX])`, () => word('×')),
    rule('letter', `[xX](?<=\\d[xX])${wordEnd}`, () => word('×')),
    rule('sign', String.raw`~(?=${gap}?[\d\p{Sc}])`, () => word('~')),
    rule('sign', '~', () => ''),
    rule('sign', String.raw`(?<=\p{Ll})${gap}?\/${gap}?(?=\p{Ll})`, () => phrases.or),
    rule('letter', `${phrases.and}\\/${phrases.or}${wordEnd}`, () => `${phrases.and} ${phrases.or}`),
    rule('sign', '_{2,200}', () => ','),
    rule('sign', '[|¦]', () => ','),
    rule('sign', '[*^](?!\\d)(?<![\\p{L}\\p{N}])(?!\\s|$)', () => ''),
    rule('sign', anyOf([...signs.keys()].filter((key) => key.length > 0)), ([sign]) => word(sign)),
    rule('letter', '(?<!\\p{Script=Greek})[α-ωΑ-Ω](?!\\p{Script=Greek})', ([letter]) => greekName(letter)),
  ]
}

/** A letter's names differ little between the languages. */
function greekName(letter: string): string | null {
  return greekNames[(letter.toLowerCase().codePointAt(0) ?? 0) - 0x3b1] ?? null
}

/** A dash is a minus, a range or a pause. */
function dashesOf({ phrases }: Language): Rule[] {
  const amount = String.raw`(?:\d|${currencyClass}|${fractionClass})`
  const end = String.raw`(?:\d|[%‰°'′"″]|${currencyClass}|${fractionClass}|\d ?\p{L}{1,3}|[ap]\.m\.)`
  return [
    rule(['sign', 'space'], String.raw`(?<=\d)${gap}?[-−]${gap}?(?=\d[\d.,]{0,20}${gap}?=)`, () => phrases.minus),
    rule(['sign', 'space'], String.raw`(?<=${end})(?:[-–—‑‒]|${gap}[-–—‑‒]${gap})(?=${amount})`, () => phrases.to),
    rule('sign', String.raw`(?<![\p{L}\p{N})])[-–−‑‒](?=[.,]?${amount})`, () => phrases.minus),
    rule('sign', '−', () => phrases.minus),
    rule(['sign', 'space'], String.raw`\s{0,20}(?:[—―]\s{0,20}|–\s{1,20}|–(?=\p{L}))`, () => ','),
  ]
}

function powersOf(language: Language): Rule[] {
  const { phrases } = language
  const spokenPower = (text: string) => cardinalOf(text, language)
  const digits = (text: string) => [...text].map((digit) => superscripts.indexOf(digit)).join('')
  return [
    rule('sign', `(?<=[\\p{L}\\d)])²(?![⁺⁻${superscripts}])`, () => phrases.squared),
    rule('sign', `(?<=[\\p{L}\\d)])³(?![⁺⁻${superscripts}])`, () => phrases.cubed),
    rule(
      'sign',
      `(?<=(?<!\\p{L})\\p{L}|[\\d)])([⁺⁻]?)([${superscripts}]{1,10})(?![⁺⁻])`,
      ([, sign, power = '']) =>
        `${phrases.power} ${sign === '⁻' ? `${phrases.minus} ` : ''}${spokenPower(digits(power))}`,
    ),
    rule('sign', `[${superscripts}]{1,10}`, ([power]) => spokenPower(digits(power))),
    rule('sign', String.raw`(?<=[\p{L}\d)])\^(?=-?\d)`, () => phrases.power),
  ]
}
