/** Rules for Italian only: dates, times, ordinals. */
import { ordinal } from './it-numbers.ts'
import type { Language } from './language.ts'
import { cardinalOf, isDate, isTime, romanValue } from './numbers.ts'
import { anyOf, gap, isAtEnd, type Rule, rule, wordEnd, wordsOf } from './rule.ts'

const months = 'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'.split(
  ' ',
)
const shortMonths = wordsOf(`
gen. gen genn. | gennaio
feb. feb febbr. | febbraio
mar. | marzo
apr. apr | aprile
mag. mag | maggio
giu. giu | giugno
lug. lug | luglio
ago. ago | agosto
set. sett. | settembre
ott. ott | ottobre
nov. nov | novembre
dic. dic | dicembre
`)
const days = wordsOf(`
lun Lun | lunedì
mar Mar | martedì
mer Mer | mercoledì
gio Gio | giovedì
ven Ven | venerdì
sab Sab | sabato
dom Dom | domenica
`)
const day = anyOf(days.keys())
const month = `(${anyOf([...months, ...shortMonths.keys()])})`

const datesOf = (language: Language): Rule[] => {
  const spoken = (dayNumber: string, name: string, year?: string) => {
    const number = Number(dayNumber) === 1 ? 'primo' : cardinalOf(dayNumber, language)
    return `${number} ${name}${year === undefined ? '' : ` ${cardinalOf(year.length === 2 ? `20${year}` : year, language)}`}`
  }
  const numeric = (dayNumber: string, number: string, year?: string) =>
    isDate(dayNumber, number) ? spoken(dayNumber, months[Number(number) - 1] ?? '', year) : null
  return [
    rule(
      'digit',
      String.raw`(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/]|[.-]\d)`,
      ([, dayNumber = '', , number = '', year]) => numeric(dayNumber, number, year),
    ),
    rule(
      'digit',
      String.raw`(?<=\b(?:il|del|al|dal|entro il)\s)(\d{1,2})\/(\d{1,2})(?![\d/])`,
      ([, dayNumber = '', number = '']) => numeric(dayNumber, number),
    ),
    rule('digit', String.raw`(\d{4})-(\d{2})-(\d{2})(?=[T\s.,;:!?)]|$)`, ([, year, number = '', dayNumber = '']) =>
      numeric(dayNumber, number, year),
    ),
    rule(
      'digit',
      `(\\d{1,2})[º°]?${gap}${month}(?!\\p{L})(?:${gap}(\\d{4})(?!\\d))?`,
      ([, dayNumber = '', name = '', year]) =>
        isDate(dayNumber, '1') ? spoken(dayNumber, shortMonths.get(name) ?? name, year) : null,
    ),
  ]
}

const timesOf = (language: Language): Rule[] => {
  const time = (hour: string, minute: string, second?: string) => {
    if (!isTime(hour, minute)) return null
    const minutes = Number(minute) === 0 && second === undefined ? '' : ` e ${cardinalOf(minute, language)}`
    const seconds = second === undefined ? '' : ` e ${cardinalOf(second, language)} secondi`
    return `${cardinalOf(hour, language, 'f')}${minutes}${seconds}`
  }
  return [
    rule('digit', `(\\d{1,2}):(\\d{2})(?::(\\d{2}))?(?![\\d:]|[.,]\\d)`, ([, hour = '', minute = '', second]) =>
      time(hour, minute, second),
    ),
    rule(
      'digit',
      `(?<=\\b(?:[Aa]lle|[Dd]alle|[Oo]re|[Ll]e|h)\\.?\\s)(\\d{1,2})\\.(\\d{2})(?![\\d:]|[.,]\\d)`,
      ([, hour = '', minute = '']) => time(hour, minute),
    ),
    rule('digit', `(\\d{1,2})\\.(\\d{2})(?=${gap}?[-–]${gap}?\\d{1,2}\\.\\d{2}(?!\\d))`, ([, hour = '', minute = '']) =>
      time(hour, minute),
    ),
    rule('digit', `(?<=\\d\\.\\d{2}${gap}?[-–]${gap}?)(\\d{1,2})\\.(\\d{2})(?!\\d)`, ([, hour = '', minute = '']) =>
      time(hour, minute),
    ),
  ]
}

const ordinalsOf = (language: Language): Rule[] => [
  rule('digit', `(\\d{1,3})([ºª])`, ([, digits = '', mark]) => ordinal(Number(digits), mark === 'ª')),
  rule('digit', `(\\d{1,2})°(?=${gap}\\p{Ll}{3,})`, ([, digits = '']) => ordinal(Number(digits))),
  rule('letter', `([IVXL]{1,6})(?=${gap}(?:secolo|capitolo)${wordEnd})`, ([, numeral = '']) =>
    ordinal(romanValue(numeral)),
  ),
  rule(
    'letter',
    `(?<=\\b(?:Luigi|Carlo|Enrico|Filippo|Vittorio Emanuele|Umberto|Giovanni Paolo|Benedetto|Pio)\\s)([IVX]{1,6})${wordEnd}`,
    ([, numeral = '']) => ordinal(romanValue(numeral)),
  ),
  rule(
    'letter',
    `(?<=\\b(?:capitolo|tomo|parte|secolo|tipo|Elisabetta)\\s)([IVXL]{1,6})${wordEnd}`,
    ([, numeral = '']) => cardinalOf(String(romanValue(numeral)), language),
  ),
]

export function italianRules(language: Language): Rule[] {
  return [
    ...timesOf(language),
    ...datesOf(language),
    ...ordinalsOf(language),
    // "una" loses its vowel before another: "un'ora".
    rule('digit', `1${gap}([aeiou]\\p{L}{1,30})`, ([, noun = '']) =>
      language.genderOf(noun) === 'f' ? `un'${noun}` : null,
    ),
    rule('letter', `[Nn](?:\\.|[°º]\\.?)${gap}?(?=\\d)`, () => 'numero'),
    rule('letter', `p(?:p|ag|agg)?\\.${gap}?(?=\\d)`, ([written]) => (/^pp|gg/.test(written) ? 'pagine' : 'pagina')),
    rule(
      'letter',
      `(${day})\\.(?=,?${gap}\\d{1,2}[º°]?(?:[/.]\\d|${gap}${month}))`,
      ([, name = '']) => days.get(name) ?? null,
    ),
    rule(
      'letter',
      `(${day})\\.?${gap}?[-–—]${gap}?(${day})(?![\\p{L}\\p{N}])(\\.?)`,
      (match) =>
        `da ${days.get(match[1] ?? '')} a ${days.get(match[2] ?? '')}${match[3] !== '' && isAtEnd(match) ? '.' : ''}`,
    ),
  ]
}
