/** Rules for German only: dates, times, ordinals, streets. */
import { ordinalStem, year } from './de-numbers.ts'
import type { Language } from './language.ts'
import { cardinalOf, isDate, isTime, romanValue } from './numbers.ts'
import { anyOf, gap, isAtEnd, type Rule, rule, wordEnd, wordsOf } from './rule.ts'

const months = 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' ')
const shortMonths = wordsOf(`
Jan. Jän. Jänner | Januar
Feb. Febr. Feber | Februar
Mrz. Mär. | März
Apr. | April
Jun. | Juni
Jul. | Juli
Aug. | August
Sep. Sept. | September
Okt. | Oktober
Nov. | November
Dez. | Dezember
`)
const days = wordsOf(`
Mo | Montag
Di | Dienstag
Mi | Mittwoch
Do | Donnerstag
Fr | Freitag
Sa | Samstag
So | Sonntag
`)
const month = `(${anyOf([...months, ...shortMonths.keys()])})`
const monthName = (written: string) => shortMonths.get(written) ?? written
const day = anyOf(days.keys())

/** The words before an ordinal decide its ending: "am dritten", "der dritte", "ein dritter". */
const weakEn =
  /(?:^|[^\p{L}])(?:am|im|vom|zum|zur|beim|ab|bis|seit|den|dem|des|einem|einen|einer|jedem|jeden|diesem|diesen|meinem|meinen|ihrem|ihren|seinem|seinen|unserem|unseren|nach|vor|und|oder|(?:in|von|zu|mit|bei|aus|seit) der)\s$/iu
const weakE = /(?:^|[^\p{L}])(?:der|die|das|jede|diese|dieser|dieses|eine|meine|ihre|seine|unsere)\s$/iu

function ordinal(digits: string, { input, index }: RegExpExecArray): string {
  // In "vom 20.-23. Mai" the word "vom" decides the ending of both numbers.
  const before = input.slice(Math.max(0, index - 24), index).replace(/\d{1,2}\.(?:\d{1,2}\.)?\s?[-–]\s?$/, '')
  return ordinalStem(String(Number(digits))) + (weakEn.test(before) ? 'en' : weakE.test(before) ? 'e' : 'er')
}

const stopAtEnd = (match: RegExpExecArray) => (match[0].endsWith('.') && isAtEnd(match) ? '.' : '')

const datesOf: Rule[] = [
  rule('digit', `(\\d{1,2})\\.${gap}?${month}${wordEnd}(?:${gap}(\\d{4})(?!\\d))?`, (match) => {
    const [, number = '', name = '', written] = match
    return `${ordinal(number, match)} ${monthName(name)}${written === undefined ? '' : ` ${year(written)}`}`
  }),
  rule(
    'letter',
    `${month}${gap}(\\d{4})(?!\\d)`,
    ([, name = '', written = '']) => `${monthName(name)} ${year(written)}`,
  ),
  rule('digit', String.raw`(\d{1,2})\.${gap}?(\d{1,2})\.${gap}?(\d{4}|\d{2}(?!\d))(?![\d.]\d)`, (match) => {
    const [, number = '', monthNumber = '', written = ''] = match
    if (!isDate(number, monthNumber)) return null
    return `${ordinal(number, match)} ${months[Number(monthNumber) - 1]} ${year(written.length === 2 ? `20${written}` : written)}`
  }),
  rule('digit', String.raw`(\d{1,2})\.${gap}?(\d{1,2})\.(?!\d)`, (match) => {
    const [, number = '', monthNumber = ''] = match
    if (!isDate(number, monthNumber)) return null
    return `${ordinal(number, match)} ${months[Number(monthNumber) - 1]}${stopAtEnd(match)}`
  }),
  rule('digit', String.raw`(\d{4})-(\d{2})-(\d{2})(?=[T\s.,;:!?)]|$)`, (match) => {
    const [, written = '', monthNumber = '', number = ''] = match
    if (!isDate(number, monthNumber)) return null
    return `${ordinal(number, match)} ${months[Number(monthNumber) - 1]} ${year(written)}`
  }),
]

const timesOf = (language: Language): Rule[] => {
  const time = (hour: string, minute: string, second?: string) => {
    if (!isTime(hour, minute)) return null
    const minutes = Number(minute) === 0 && second === undefined ? '' : ` ${cardinalOf(minute, language)}`
    const seconds = second === undefined ? '' : ` und ${cardinalOf(second, language, 'f')} Sekunden`
    return `${cardinalOf(hour, language, 'm')} Uhr${minutes}${seconds}`
  }
  return [
    rule(
      'digit',
      `(\\d{1,2}):(\\d{2})(?::(\\d{2}))?(?![\\d:]|[.,]\\d)(?:${gap}?(?:Uhr|h)${wordEnd})?`,
      ([, hour = '', minute = '', second]) => time(hour, minute, second),
    ),
    rule('digit', `(\\d{1,2})\\.(\\d{2})${gap}Uhr${wordEnd}`, ([, hour = '', minute = '']) => time(hour, minute)),
    rule('digit', `(\\d{1,2})(?:${gap}Uhr|h)${wordEnd}`, ([, hour = '']) =>
      isTime(hour, '0') ? time(hour, '0') : null,
    ),
    rule('digit', `(\\d{1,2})(?=${gap}?(?:[-–]|bis)${gap}?\\d{1,2}(?::\\d{2})?${gap}Uhr)`, ([, hour = '']) =>
      cardinalOf(hour, language),
    ),
  ]
}

const monarchs = 'Ludwig|Heinrich|Friedrich|Karl|Wilhelm|Otto|Elisabeth|Leopold|Franz|Johannes Paul|Benedikt|Pius'

export function germanRules(language: Language): Rule[] {
  return [
    ...timesOf(language),
    ...datesOf,
    rule('digit', `(\\d{1,4})\\.(?=${gap}\\p{Ll}|${gap}?[-–]${gap}?\\d{1,4}\\.(?:${gap}|\\d{1,2}\\.))`, (match) =>
      ordinal(match[1] ?? '', match),
    ),
    rule(['sign', 'space'], `(?<=\\d\\.)${gap}?[-–]${gap}?(?=\\d{1,2}\\.)`, () => language.phrases.to),
    rule(['sign', 'space'], `(?<=\\d)${gap}?[:∶]${gap}?(?=\\d)`, () => 'zu'),
    rule('digit', `(\\d{1,4})\\.(?=${gap}\\p{L})`, (match) => {
      const before = match.input.slice(Math.max(0, match.index - 12), match.index)
      return weakEn.test(before) || weakE.test(before) ? ordinal(match[1] ?? '', match) : null
    }),
    // Sports clubs have an ordinal in their name.
    rule('digit', `(\\d{1,2})\\.(?=${gap}(?:FC|SC|SV|FSV|TSV)${wordEnd})`, (match) => ordinal(match[1] ?? '', match)),
    rule('letter', `(?<=(?:${monarchs})\\s)([IVX]{1,6})\\.`, (match) => {
      const stem = ordinalStem(String(romanValue(match[1] ?? '')))
      return `der ${stem.charAt(0).toUpperCase()}${stem.slice(1)}e${stopAtEnd(match)}`
    }),
    rule('letter', `(\\p{L}{2,30})str\\.`, (match) => `${match[1]}straße${stopAtEnd(match)}`),
    rule('letter', `S\\.${gap}?(?=\\d)`, () => 'Seite'),
    rule(
      'digit',
      `(\\d{2}|\\d{4})er(?=${gap}|$|[.,;!?])`,
      ([, digits = '']) => `${digits.length === 4 ? year(digits) : cardinalOf(digits, language)}er`,
    ),
    rule('digit', `(\\d{1,4})-?(?:mal|x)${wordEnd}`, ([, digits = '']) => `${cardinalOf(digits, language, 'm')}mal`),
    rule(
      'letter',
      `(${day})\\.?${gap}?[-–—]${gap}?(${day})(?![\\p{L}\\p{N}])(?:\\.(?=${gap}|,))?`,
      ([, from = '', to = '']) => `${days.get(from)} bis ${days.get(to)}`,
    ),
    // "Fr." is a Friday before a date or a time, and otherwise a woman's title.
    rule(
      'letter',
      `Fr\\.(?=,?${gap}?(?:den${gap})?\\d{1,2}(?:\\.${gap}?(?:(?:0?[1-9]|1[0-2])\\.|${month})|:\\d|${gap}Uhr))`,
      () => days.get('Fr') ?? null,
    ),
    rule('letter', `(${day})(?:\\.(?=${gap}|,)|(?=,${gap}?\\d|${gap}\\d))`, ([written, name = '']) =>
      written === 'So' || written === 'Fr.' ? null : (days.get(name) ?? null),
    ),
  ]
}
