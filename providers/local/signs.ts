/**
 * Signs without an ASCII form that change what a sentence says, in words: the embedded voice drops other signs, so that
 * "½" was "12" and "5 €" was five of something. The amount or number beside a sign is part of the pattern.
 */

const amount = String.raw`(\d[\d.,]*(?<![.,]))`
const space = String.raw`[\s\u00a0\u202f]*`

const money: Readonly<Record<string, [one: string, more: string]>> = {
  '€': ['euro', 'euros'],
  '£': ['pound', 'pounds'],
  '¥': ['yen', 'yen'],
  '¢': ['cent', 'cents'],
  '₹': ['rupee', 'rupees'],
  '₽': ['ruble', 'rubles'],
  '₩': ['won', 'won'],
  '₺': ['lira', 'lira'],
  '₴': ['hryvnia', 'hryvnias'],
  '₪': ['shekel', 'shekels'],
}

const fractions: Readonly<Record<string, [alone: string, behindNumber: string]>> = {
  '½': ['one half', 'a half'],
  '⅓': ['one third', 'a third'],
  '⅔': ['two thirds', 'two thirds'],
  '¼': ['one quarter', 'a quarter'],
  '¾': ['three quarters', 'three quarters'],
  '⅕': ['one fifth', 'a fifth'],
  '⅖': ['two fifths', 'two fifths'],
  '⅗': ['three fifths', 'three fifths'],
  '⅘': ['four fifths', 'four fifths'],
  '⅙': ['one sixth', 'a sixth'],
  '⅚': ['five sixths', 'five sixths'],
  '⅛': ['one eighth', 'an eighth'],
  '⅜': ['three eighths', 'three eighths'],
  '⅝': ['five eighths', 'five eighths'],
  '⅞': ['seven eighths', 'seven eighths'],
}

/** Signs that are words wherever they stand. */
const words: Readonly<Record<string, string>> = {
  '×': 'times',
  '÷': 'divided by',
  '±': 'plus or minus',
  '−': 'minus',
  '≤': 'at most',
  '≥': 'at least',
  '≠': 'not equal to',
  '≈': 'about',
  '→': 'to',
  '∞': 'infinity',
  '√': 'square root of',
  '‰': 'per mille',
  '§': 'section',
  '№': 'number',
  Ω: 'ohms',
  π: 'pi',
  '✓': 'yes',
  '✔': 'yes',
  '✗': 'no',
  '✘': 'no',
}

const named = (sign: string, [one, more]: [string, string]): [RegExp, string][] => [
  [new RegExp(`${sign}${space}(1)(?![\\d.,]*\\d)`, 'g'), `$1 ${one}`],
  [new RegExp(`${sign}${space}${amount}`, 'g'), `$1 ${more}`],
  [new RegExp(`((?:^|[^\\d.,])1)${space}${sign}`, 'g'), `$1 ${one}`],
  [new RegExp(`${amount}${space}${sign}`, 'g'), `$1 ${more}`],
  [new RegExp(sign, 'g'), ` ${more} `],
]

export const spokenSigns: readonly [RegExp, string][] = [
  ...Object.entries(money).flatMap(([sign, forms]) => named(sign, forms)),
  ...Object.entries(fractions).flatMap(([sign, [alone, behind]]): [RegExp, string][] => [
    [new RegExp(`(\\d)${space}${sign}`, 'g'), `$1 and ${behind}`],
    [new RegExp(sign, 'g'), ` ${alone} `],
  ]),
  [/(\d)\u2044(?=\d)/g, '$1/'],
  // A dash between numbers is a range, and one in front of a number a minus.
  [/(\d)\s*[–—]\s*(?=\d)/g, '$1 to '],
  [/(^|[\s(])[–\u2212](?=\d)/g, '$1minus '],
  [/[°º]\s*C(?![a-z])/g, ' degrees Celsius'],
  [/[°º]\s*F(?![a-z])/g, ' degrees Fahrenheit'],
  [/℃/g, ' degrees Celsius'],
  [/℉/g, ' degrees Fahrenheit'],
  [/°/g, ' degrees'],
  [/([a-z])²/g, '$1 squared'],
  [/([a-z])³/g, '$1 cubed'],
  [/(\d)²/g, '$1 squared'],
  [/(\d)³/g, '$1 cubed'],
  [/[µμ]g\b/g, 'micrograms'],
  [/[µμ]m\b/g, 'micrometers'],
  [/[µμ]l\b/gi, 'microliters'],
  [/[µμ]s\b/g, 'microseconds'],
  ...Object.entries(words).map(([sign, word]): [RegExp, string] => [new RegExp(sign, 'g'), ` ${word} `]),
]
