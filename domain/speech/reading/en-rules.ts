/** Rules for English only: dates, times, ordinals, streets, kings. */
import { ordinal, year } from './en-numbers.ts'
import type { Language } from './language.ts'
import { cardinalOf, digitByDigit, romanValue, spokenNumber, writtenOf } from './numbers.ts'
import { anyOf, gap, isAtEnd, type Rule, rule, wordEnd, wordStart, wordsOf } from './rule.ts'

const months = 'January February March April May June July August September October November December'.split(' ')
const shortMonths = wordsOf(`
Jan | January
Feb | February
Mar | March
Apr | April
Jun | June
Jul | July
Aug | August
Sep Sept | September
Oct | October
Nov | November
Dec | December
`)
const days = wordsOf(`
Mon | Monday
Tue Tues | Tuesday
Wed | Wednesday
Thu Thur Thurs | Thursday
Fri | Friday
Sat | Saturday
Sun | Sunday
`)
const month = `(${anyOf(months)}|${anyOf(shortMonths.keys())}\\.?)`
const monthName = (written: string) => shortMonths.get(written.replace('.', '')) ?? written
const suffix = '(?:st|nd|rd|th)'
const yearBehind = `(?:,?${gap}(\\d{4})(?![\\d:]))?`

type Date = { month: string; day: string; year?: string | undefined }

function spokenDate({ month, day, year: written }: Date): string | null {
  const value = Number(day)
  if (value < 1 || value > 31) return null
  return `${month} ${ordinal(String(value))}${written === undefined ? '' : `, ${yearOf(written)}`}`
}

/** A year with two digits is read as written: "oh five". */
function yearOf(written: string): string {
  return year(written.length === 2 ? `20${written}` : written)
}

/** Reads a date in numbers. The month comes first in the USA, unless the number is too large. */
function numericDate(first: string, second: string, written: string | undefined, order: Order): string | null {
  const isMonthFirst = order === 'month' ? Number(first) <= 12 : Number(second) > 12
  const [monthNumber, day] = isMonthFirst ? [first, second] : [second, first]
  const name = months[Number(monthNumber) - 1]
  return name === undefined ? null : spokenDate({ month: name, day, year: written })
}

/** The first number in a date such as "3/4/2024". */
export type Order = 'month' | 'day'

const datesOf = (order: Order): Rule[] => [
  rule(
    'letter',
    `${month}${gap}(\\d{1,2})${suffix}?(?![\\d:]|[.,/]\\d)(?:\\s?[-–—]\\s?(\\d{1,2})${suffix}?(?![\\d:]))?${yearBehind}`,
    (match) => {
      const [, name = '', day = '', last, written] = match
      const first = spokenDate({ month: monthName(name), day, year: last === undefined ? written : undefined })
      if (first === null || last === undefined) return first
      return `${first} to ${ordinal(last)}${written === undefined ? '' : `, ${year(written)}`}`
    },
  ),
  rule(
    'letter',
    `${month},?${gap}(\\d{4})(?![\\d:])`,
    ([, name = '', written = '']) => `${monthName(name)} ${year(written)}`,
  ),
  rule('letter', `(${anyOf(shortMonths.keys())})\\.(?=${gap})`, ([, name = '']) =>
    name === 'Mar' ? null : monthName(name),
  ),
  rule('digit', `(\\d{1,2})${suffix}?(?:${gap}of)?${gap}${month}(?![\\p{L}\\p{N}])${yearBehind}`, (match) => {
    const [, day = '', name = '', written] = match
    if (Number(day) < 1 || Number(day) > 31) return null
    const the = /\bthe\s$/i.test(match.input.slice(Math.max(0, match.index - 5), match.index)) ? '' : 'the '
    const stop = written === undefined && name.endsWith('.') && isAtEnd(match) ? '.' : ''
    return `${the}${ordinal(day)} of ${monthName(name)}${written === undefined ? stop : `, ${year(written)}`}`
  }),
  rule('digit', String.raw`(\d{1,2})\/(\d{1,2})\/(\d{4}|\d{2})(?![\d/])`, ([, first = '', second = '', written]) =>
    numericDate(first, second, written, order),
  ),
  rule('digit', String.raw`(\d{1,2})([.-])(\d{1,2})\2(\d{4})(?!\d)`, ([, first = '', , second = '', written]) =>
    numericDate(first, second, written, order),
  ),
  rule(
    'digit',
    String.raw`(?<=\b(?:on|by|since|until|till|from|due|before|after)\s)(\d{1,2})\/(\d{1,2})(?![\d/]|\.\d)`,
    ([, first = '', second = '']) => numericDate(first, second, undefined, order),
  ),
  rule(
    'digit',
    String.raw`(\d{4})[-–](\d{2})[-–](\d{2})(?=[T\s.,;:!?)]|$)`,
    ([, written, monthNumber = '', day = '']) => numericDate(monthNumber, day, written, 'month'),
  ),
]

/** Reads a time of day. `half` is "a" or "p", or undefined if the time has 24 hours. */
function spokenTime(language: Language, hour: string, minute: string, half: string | undefined): string | null {
  if (Number(hour) > 24 || Number(minute) > 59) return null
  const hours = cardinalOf(hour, language)
  const end = half === undefined ? '' : ` ${half.toLowerCase()}.m.`
  if (Number(minute) === 0) return `${hours}${half === undefined ? " o'clock" : end}`
  return `${hours} ${Number(minute) < 10 ? 'oh ' : ''}${cardinalOf(minute, language)}${end}`
}

const halfOfDay = `(?:${gap}?([apAP])\\.?${gap}?[mM]${wordEnd}\\.?)`

const timesOf = (language: Language): Rule[] => [
  rule('digit', String.raw`(\d{1,2}):(\d{2}):(\d{2})(?![\d:])`, ([, hour = '', minute = '', second = '']) => {
    if (Number(minute) > 59 || Number(second) > 59) return null
    const time = spokenTime(language, hour, minute, undefined)
    return time === null
      ? null
      : `${time} and ${cardinalOf(second, language)} ${Number(second) === 1 ? 'second' : 'seconds'}`
  }),
  rule('digit', `(\\d{1,2})[:.](\\d{2})${halfOfDay}`, ([, hour = '', minute = '', half]) =>
    spokenTime(language, hour, minute, half),
  ),
  rule(
    'digit',
    String.raw`(\d{1,2}):(\d{2})(?![\d:]|\.\d)(?:h\b| ?hrs?\b| ?o'clock\b)?`,
    ([, hour = '', minute = '']) => spokenTime(language, hour, minute, undefined),
  ),
  rule('digit', `(\\d{1,2})${halfOfDay}`, ([, hour = '', half]) => spokenTime(language, hour, '00', half)),
  rule('letter', `([ap])\\.m\\.?${wordEnd}`, ([, half = '']) => `${half}.m.`),
]

/** Behind these words, "m" is a million, not a meter. */
const countedInMillions =
  'people|users|customers|subscribers|followers|views|downloads|visitors|viewers|listeners|residents|jobs|homes|households|copies|children|calls|messages|players|members|voters|students|patients|devices|records|rows'

const millionsOf = (language: Language): Rule =>
  rule('digit', `(\\d{1,4}(?:\\.\\d{1,3})?)m(?=${gap}(?:${countedInMillions})${wordEnd})`, ([, written = '']) => {
    const number = spokenNumber(writtenOf(written, language), language)
    return `${number} ${language.scales.get('m')?.one ?? 'million'}`
  })

const counted =
  'World War|Chapter|Part|Act|Volume|Phase|Type|Class|Level|Section|Article|Appendix|Super Bowl|Grade|Stage|Book'
const monarchs =
  'Louis|Henry|Elizabeth|Charles|George|Edward|Richard|James|William|Napoleon|Philip|Francis|Benedict|Paul|Pius'

const romansOf = (language: Language): Rule[] => [
  rule('letter', `(?<=\\b(?:${counted})\\s)([IVXL]{1,6})${wordEnd}`, ([, numeral = '']) =>
    cardinalOf(String(romanValue(numeral)), language),
  ),
  rule(
    'letter',
    `(?<=\\b(?:${monarchs})\\s)([IVX]{1,6})${wordEnd}`,
    ([, numeral = '']) => `the ${ordinal(String(romanValue(numeral)))}`,
  ),
]

/** Reads a decade: "the nineties", "nineteen eighties". */
function decade(written: string): string {
  const words = written.length === 4 ? year(written) : year(`19${written}`).replace(/^nineteen /, '')
  return words.replace(/y$/, 'ie').replace(/x$/, 'xe').concat('s')
}

/** "St." means "saint" before a name, and "street" after a name. "Dr." means "drive" after a name. */
function streetOr(street: string, title: string): (match: RegExpExecArray) => string {
  return ({ 0: written, index, input }) => {
    const behind = input.slice(index + written.length, index + written.length + 4)
    const isBehindName = /(?:\p{Lu}\p{L}+|\dth|\dst|\dnd|\drd)\s$/u.test(input.slice(Math.max(0, index - 20), index))
    const isStreet = isBehindName && (title === 'Saint' || !/^\s\p{Lu}/u.test(behind))
    const word = isStreet || (title === 'Saint' && !/^\s\p{Lu}/u.test(behind)) ? street : title
    return /^\s*$/.test(behind) || (isStreet && /^\s+\p{Lu}/u.test(behind)) ? `${word}.` : word
  }
}

export function englishRules(language: Language, order: Order): Rule[] {
  return [
    millionsOf(language),
    ...timesOf(language),
    ...datesOf(order),
    ...romansOf(language),
    rule('digit', `(\\d{1,3}(?:,\\d{3}){1,4}|\\d{1,15})${suffix}${wordEnd}`, ([, digits = '']) =>
      ordinal(digits.replaceAll(',', '')),
    ),
    rule(['digit', 'sign'], `['’]?(\\d{2}|\\d{4})(?<=0)['’]?s${wordEnd}`, ([, digits = '']) => decade(digits)),
    rule(
      'digit',
      String.raw`(\d{5})-(\d{4})(?![\d-])`,
      ([, zip = '', rest = '']) => `${digitByDigit(zip, language)}, ${digitByDigit(rest, language)}`,
    ),
    // The zip code after a state: "St. Louis, MO 63101".
    rule('digit', String.raw`(?<=,\s[A-Z]{2}\s)\d{5}(?![\d-]|[.,]\d)`, ([zip]) => digitByDigit(zip, language)),
    rule('digit', String.raw`(\d{2,3})\/(\d{2,3})(?![\d/])`, ([, over = '', under = '']) =>
      Number(over) === Number(under)
        ? `${cardinalOf(over, language)} ${cardinalOf(under, language)}`
        : Number(over) > Number(under)
          ? `${cardinalOf(over, language)} over ${cardinalOf(under, language)}`
          : null,
    ),
    rule(
      'digit',
      `(\\d{1,3})${gap}in(?:\\.(?=\\s*$|,)|(?=[,;)]|\\s*$|\\s?[x×]\\s?\\d))`,
      ([, digits = '']) => `${cardinalOf(digits, language)} ${digits === '1' ? 'inch' : 'inches'}`,
    ),
    rule('letter', `[Nn]os?\\.${gap}?(?=\\d)`, ([written]) => (/s/.test(written) ? 'numbers' : 'number')),
    rule('letter', `pp?\\.${gap}?(?=\\d)`, ([written]) => (written.startsWith('pp') ? 'pages' : 'page')),
    rule('letter', `c\\.${gap}?(?=\\d)`, () => 'circa'),
    rule('letter', 'St\\.', streetOr('Street', 'Saint')),
    rule('letter', 'Dr\\.', streetOr('Drive', 'Doctor')),
    rule('letter', `w\\/o${wordEnd}`, () => 'without'),
    rule('letter', `w\\/(?=\\s?\\p{L})`, () => 'with'),
    rule('letter', `(${anyOf(days.keys())})\\.?\\s?[-–—]\\s?(${anyOf(days.keys())})${wordEnd}`, (match) =>
      [match[1], match[2]].map((day = '') => days.get(day)).join(' to '),
    ),
    rule(
      'letter',
      `(${anyOf(days.keys())})(?:\\.?(?=,?${gap}(?:\\d|${month}))|\\.(?=,|${gap}at\\b))`,
      ([, day = '']) => days.get(day) ?? null,
    ),
    rule('letter', `${wordStart}o'clock`, () => "o'clock"),
  ]
}
