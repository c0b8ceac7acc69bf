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
  '฿': ['baht', 'baht'],
  '₫': ['dong', 'dong'],
  '₦': ['naira', 'naira'],
  '₱': ['peso', 'pesos'],
  '₵': ['cedi', 'cedis'],
  '₸': ['tenge', 'tenge'],
  '₼': ['manat', 'manat'],
  '₾': ['lari', 'lari'],
  '₡': ['colon', 'colons'],
  '₲': ['guarani', 'guaranis'],
  '₿': ['bitcoin', 'bitcoins'],
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
  '⅐': ['one seventh', 'a seventh'],
  '⅑': ['one ninth', 'a ninth'],
  '⅒': ['one tenth', 'a tenth'],
  '⅙': ['one sixth', 'a sixth'],
  '⅚': ['five sixths', 'five sixths'],
  '⅛': ['one eighth', 'an eighth'],
  '⅜': ['three eighths', 'three eighths'],
  '⅝': ['five eighths', 'five eighths'],
  '⅞': ['seven eighths', 'seven eighths'],
}

/** Formulas name quantities with single Greek letters. Greek words are not spoken, because the voice is English. */
const greekNames =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau upsilon phi chi psi omega'.split(
    ' ',
  )
const greekLetter = /(?<!\p{Script=Greek})[α-ωΑ-Ω](?!\p{Script=Greek})/gu

function greekName(letter: string): string {
  const name = greekNames[(letter.toLowerCase().codePointAt(0) ?? 0) - 0x3b1]
  return ` ${name ?? ''} `
}

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'
const exponent = `[⁺⁻${superscripts}]`
/** A power of a number, of a bracket or of a single letter. A raised digit after a word is a footnote's number. */
const power = new RegExp(`((?<![a-z])[a-z]|[\\d)])(?=[⁺⁻]?[${superscripts}]+(?!${exponent}))`, 'gi')

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
  '≪': 'much less than',
  '≫': 'much more than',
  '∼': 'about',
  '→': 'to',
  '⇒': 'to',
  '➜': 'to',
  '➡': 'to',
  '←': 'from',
  '↔': 'to and from',
  '↑': 'up',
  '↓': 'down',
  '∞': 'infinity',
  '√': 'square root of',
  '∛': 'cube root of',
  '∑': 'sum of',
  '⌀': 'diameter',
  '‱': 'per ten thousand',
  '⁺': 'plus',
  '⁻': 'minus',
  '‰': 'per mille',
  '§': 'section',
  '№': 'number',
  円: 'yen',
  元: 'yuan',
  '✓': 'yes',
  '✔': 'yes',
  '✅': 'yes',
  '☑': 'yes',
  '❌': 'no',
  '✖': 'no',
  '✗': 'no',
  '✘': 'no',
}

/** A whole number before a fraction, also with a currency: "€1½" is first changed to "1 euro½". */
const wholeUnit = `\\d(?: (?:${Object.values(money).flat().join('|')}))?`

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
  // In "5€50" and "5 € 20 £" the sign belongs to the number before it.
  [new RegExp(`(\\d)(?:${sign}${space}|[ \\u00a0\\u202f]${sign}[ \\u00a0\\u202f])(?=\\d)`, 'g'), `$1 ${more} `],
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

const fractionSigns = Object.keys(fractions).join('')

export const spokenSigns: readonly [RegExp, string | ((match: string) => string)][] = [
  [/￥/g, '¥'],
  [/￡/g, '£'],
  [/￠/g, '¢'],
  // Feet and inches. After degrees, and with more than eleven inches, they are minutes and seconds.
  [/([°º][\s\u00a0]*\d{1,2})[′'](?=[\s\u00a0]*\d{1,2}(?:\.\d+)?[″"])/g, '$1 minutes '],
  [/(\d)′(?=[\s\u00a0]*(?:1[2-9]|[2-5]\d)″)/g, '$1 minutes '],
  [/( minutes [\s\u00a0]*\d{1,2}(?:\.\d+)?)[″"]/g, '$1 seconds'],
  [/(\d)[′'](?=[\s\u00a0]*(?:\d|1[01])(?:\.\d+)?[″"])/g, '$1 feet '],
  [/( feet [\s\u00a0]*\d{1,2}(?:\.\d+)?)"/g, '$1 inches'],
  [new RegExp(`([\\d${fractionSigns}])″`, 'g'), '$1 inches'],
  [/(\d)′/g, '$1 feet'],
  [moneyRange, ' to '],
  [new RegExp(`([${fractionSigns}])\\s*[–—]\\s*(?=[\\d${fractionSigns}])`, 'g'), '$1 to '],
  [new RegExp(`(\\d)\\s*[–—]\\s*(?=\\d*${space}[${fractionSigns}])`, 'g'), '$1 to '],
  ...spokenScales,
  ...Object.entries(money).flatMap(([sign, forms]) => withUnit(sign, forms)),
  ...Object.entries(fractions).flatMap(([sign, [alone, behind]]): [RegExp, string][] => [
    [new RegExp(`(${wholeUnit})${space}${sign}`, 'g'), `$1 and ${behind}`],
    [new RegExp(`${sign}(?=[-‐‑]\\p{L})`, 'gu'), ` ${alone}`],
    [new RegExp(sign, 'g'), ` ${alone} `],
  ]),
  [/(\d)[ \u00a0]?\u2044[ \u00a0]?(?=\d)/g, '$1/'],
  // Other dashes between numbers are in phone numbers. A dash before a number is a minus sign.
  [rangeDash, ' to '],
  [/(\d)\s*[–—]\s*(?=\d)/g, '$1-'],
  [/(^|[\s(])[–\u2212](?=\d)/g, '$1minus '],
  [/[°º]\s*C(?![a-z])/g, ' degrees Celsius'],
  [/[°º]\s*F(?![a-z])/g, ' degrees Fahrenheit'],
  [/℃/g, ' degrees Celsius'],
  [/℉/g, ' degrees Fahrenheit'],
  [/°/g, ' degrees'],
  [new RegExp(`([a-z\\d)])²(?!${exponent})`, 'gi'), '$1 squared'],
  [new RegExp(`([a-z\\d)])³(?!${exponent})`, 'gi'), '$1 cubed'],
  [power, '$1 to the power of '],
  [/(\d) ?[·⋅∙] ?(?=\d)/g, '$1 times '],
  [/(\d) ?∶ ?(?=\d)/g, '$1 to '],
  [/(\d)[\s\u00a0]*[\u00c5\u212b](?!\p{L})/gu, '$1 angstroms'],
  [/[µμ]g\b/g, 'micrograms'],
  [/[µμ]m\b/g, 'micrometers'],
  [/[µμ]l\b/gi, 'microliters'],
  [/[µμ]s\b/g, 'microseconds'],
  [/µ/g, ' micro '],
  [/[\u03a9\u2126]/g, ' ohms '],
  [greekLetter, greekName],
  ...Object.entries(words).map(([sign, word]): [RegExp, string] => [new RegExp(sign, 'g'), ` ${word} `]),
]
