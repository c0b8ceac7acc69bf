/**
 * Replaces signs without an ASCII form by words, if the sign changes a sentence's meaning. The embedded voice would
 * drop the sign: "½" became "12", and "5 €" lost its currency. The patterns include the amount or number beside a sign.
 */

/** Matches only at a number's first digit. Otherwise the search would try again at each digit in a long number. */
const amount = String.raw`((?<![\d.,])\d[\d.,]*(?<![.,]))`
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

/** Signs with the same word in every context. */
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

const moneySigns = `[${Object.keys(money).join('')}]`
const scales: Readonly<Record<string, string>> = {
  k: 'thousand',
  'mn|mln|m': 'million',
  'bn|b': 'billion',
  'tn|t': 'trillion',
}
const firstNumber = String.raw`(?<![\d.,])\d[\d.,]*(?<![.,])`
const rangeEnd = String.raw`\s*[–—-]\s*\d[\d.,]*(?<![.,])`
const oneOrRange = `${firstNumber}(?:${rangeEnd})?`
const scaled = String.raw`(${oneOrRange}[\s\u00a0\u202f-]*(?:hundred|thousand|lakh|crore|million|billion|trillion)(?![a-z]))`

/** Changes "€10k" to "€10 thousand". An "m" after a space is not changed, because it means metres. */
const spokenScales = Object.entries(scales).flatMap(([short, long]): [RegExp, string][] => [
  [new RegExp(`(${moneySigns}${space}${oneOrRange})(?:${short})(?![a-z\\d])`, 'gi'), `$1 ${long}`],
  [new RegExp(`(\\d)${space}(?:${short})(?=${space}${moneySigns})`, 'gi'), `$1 ${long}`],
])

/** Matches ranges such as "€5 – €10" and "5 € – 10 €". */
const moneyRange = new RegExp(
  `(?<=\\d${space}${moneySigns})\\s*[–—]\\s*(?=\\d)|(?<=\\d[a-z]{0,2})\\s*[–—]\\s*(?=${moneySigns}${space}\\d)`,
  'g',
)

/** Writes the unit after the whole amount. */
const withUnit = (sign: string, [one, more]: [string, string]): [RegExp, string][] => [
  [new RegExp(`${sign}${space}${scaled}`, 'gi'), `$1 ${more}`],
  [new RegExp(`${scaled}${space}${sign}`, 'gi'), `$1 ${more}`],
  [new RegExp(`${sign}${space}(${firstNumber}${rangeEnd})`, 'g'), `$1 ${more}`],
  [new RegExp(`${sign}${space}(1)(?![\\d.,]*\\d)`, 'g'), `$1 ${one}`],
  [new RegExp(`${sign}${space}${amount}`, 'g'), `$1 ${more}`],
  [new RegExp(`((?:^|[^\\d.,])1)${space}${sign}`, 'g'), `$1 ${one}`],
  [new RegExp(`${amount}${space}${sign}`, 'g'), `$1 ${more}`],
  [new RegExp(sign, 'g'), ` ${more} `],
]

/**
 * Matches the dash in a number range: up to four digits on each side, or numbers with thousands separators. A
 * three-digit number before a four-digit number is a phone number, unless both are round. More groups in a row ("212
 * 555–123") and a leading zero ("030–123") are phone numbers too.
 */
const numberOfRange = String.raw`(?:\d{1,3}(?:[.,]\d{3})+|\d{1,4})(?:\.\d+)?`
const rangeDash = new RegExp(
  String.raw`(?<=(?<!\d[.,]?|\d\s?[-‐‑–—]\s?)(?<!\d[ ()]+(?=\d{3}))(?!0\d\d)${numberOfRange})` +
    String.raw`(?:(?<!(?<![\d.,])\d{3})|(?!\s*[–—]\s*\d{4}(?!\d))|(?<=0)(?=\s*[–—]\s*\d{3}0))` +
    String.raw`\s*[–—]\s*(?=${numberOfRange}(?!\d|[.,]\d|\s?[-‐‑–—]\s?\d))`,
  'g',
)

export const spokenSigns: readonly [RegExp, string][] = [
  [moneyRange, ' to '],
  ...spokenScales,
  ...Object.entries(money).flatMap(([sign, forms]) => withUnit(sign, forms)),
  ...Object.entries(fractions).flatMap(([sign, [alone, behind]]): [RegExp, string][] => [
    [new RegExp(`(\\d)${space}${sign}`, 'g'), `$1 and ${behind}`],
    [new RegExp(sign, 'g'), ` ${alone} `],
  ]),
  [/(\d)\u2044(?=\d)/g, '$1/'],
  // Other dashes between numbers are in phone numbers. A dash before a number is a minus sign.
  [rangeDash, ' to '],
  [/(\d)\s*[–—]\s*(?=\d)/g, '$1-'],
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
