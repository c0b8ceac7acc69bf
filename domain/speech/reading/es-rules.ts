/** Rules for Spanish only: dates, times, ordinals. */
import { ordinal } from './es-numbers.ts'
import type { Language } from './language.ts'
import { cardinalOf, isDate, isTime, romanValue } from './numbers.ts'
import { anyOf, gap, type Rule, rule, wordEnd, wordsOf } from './rule.ts'

const months = 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ')
const shortMonths = wordsOf(`
ene. ene | enero
feb. feb | febrero
mar. | marzo
abr. abr | abril
may. | mayo
jun. jun | junio
jul. jul | julio
ago. ago | agosto
sept. sep. sept sep | septiembre
oct. oct | octubre
nov. nov | noviembre
dic. dic | diciembre
`)
const days = wordsOf(`
lun Lun L | lunes
mar Mar M | martes
mié Mié mie X | miércoles
jue Jue J | jueves
vie Vie V | viernes
sáb Sáb sab S | sábado
dom Dom D | domingo
`)
const day = anyOf(days.keys())

/** "S-M" and "M-L" are sizes of clothes: no week goes from Saturday to Tuesday. */
function isSize(from: string, to: string): boolean {
  const week = 'LMXJVSD'
  return from.length === 1 && to.length === 1 && week.indexOf(from) > week.indexOf(to)
}

const datesOf = (language: Language): Rule[] => {
  const spoken = (dayNumber: string, month: string, year?: string) =>
    `${cardinalOf(dayNumber, language)} de ${month}${year === undefined ? '' : ` de ${cardinalOf(year.length === 2 ? `20${year}` : year, language)}`}`
  const numeric = (dayNumber: string, month: string, year?: string) =>
    isDate(dayNumber, month) ? spoken(dayNumber, months[Number(month) - 1] ?? '', year) : null
  return [
    rule(
      'digit',
      String.raw`(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![\d/]|[.-]\d)`,
      ([, dayNumber = '', , month = '', year]) => numeric(dayNumber, month, year),
    ),
    rule(
      'digit',
      String.raw`(?<=\b(?:el|del|al|día)\s)(\d{1,2})\/(\d{1,2})(?![\d/])`,
      ([, dayNumber = '', month = '']) => numeric(dayNumber, month),
    ),
    rule('digit', String.raw`(\d{4})-(\d{2})-(\d{2})(?=[T\s.,;:!?)]|$)`, ([, year, month = '', dayNumber = '']) =>
      numeric(dayNumber, month, year),
    ),
    rule(
      'digit',
      `(\\d{1,2})(?:${gap}de)?[ -](${anyOf(shortMonths.keys())})(?![\\p{L}])(?:(?:${gap}de)?[ -](\\d{4})(?!\\d))?`,
      ([, dayNumber = '', month = '', year]) => spoken(dayNumber, shortMonths.get(month) ?? month, year),
    ),
    rule(
      'digit',
      `(\\d{1,2})[ -](${anyOf(months)})${wordEnd}(?:[ -](\\d{4})(?!\\d))?`,
      ([, dayNumber = '', month = '', year]) => spoken(dayNumber, month, year),
    ),
  ]
}

/** "10:30 p. m." is "diez treinta de la noche". */
function partOfDay(hour: number, half: string): string {
  if (half === 'a') return hour < 6 || hour === 12 ? 'de la madrugada' : 'de la mañana'
  return hour === 12 ? 'del mediodía' : hour < 8 ? 'de la tarde' : 'de la noche'
}

const timesOf = (language: Language): Rule[] => {
  const time = (hour: string, minute: string) => {
    const minutes =
      Number(minute) === 0 ? '' : ` ${minute.startsWith('0') ? 'cero ' : ''}${cardinalOf(minute, language)}`
    return isTime(hour, minute) ? `${cardinalOf(hour, language, 'f')}${minutes}` : null
  }
  const half = `(?:${gap}?([ap])\\.?${gap}?m\\b\\.?)`
  return [
    rule(
      'digit',
      `(\\d{1,2})(?:[:.](\\d{2}))?${half}`,
      (match) => {
        const [written, hour = '', minute = '00', letter = ''] = match
        const spoken = time(hour, minute)
        const isLast = written.endsWith('.') && /^\s*$/.test(match.input.slice(match.index + written.length))
        return spoken === null ? null : `${spoken} ${partOfDay(Number(hour), letter.toLowerCase())}${isLast ? '.' : ''}`
      },
      'i',
    ),
    rule(
      'digit',
      `(\\d{1,2}):(\\d{2})(?::(\\d{2}))?(?![\\d:]|[.,]\\d)(?:${gap}?(h(?:oras|rs|s)?)${wordEnd}\\.?)?`,
      ([, hour = '', minute = '', second, hours]) => {
        const spoken = time(hour, minute)
        if (spoken === null) return null
        return `${spoken}${second === undefined ? '' : ` y ${cardinalOf(second, language, 'm')} segundos`}${hours === undefined ? '' : ' horas'}`
      },
    ),
    rule(
      'digit',
      `(?<=\\b[Ll]as?\\s)(\\d{1,2})(?:\\.(\\d{2}))?(?![\\d:ºª]|\\.?[ºª]|[.,]\\d)(?:${gap}?(h(?:rs)?)${wordEnd})?`,
      ([, hour = '', minute = '00', hours]) => {
        const spoken = time(hour, minute)
        return spoken === null ? null : `${spoken}${hours === undefined ? '' : ' horas'}`
      },
    ),
  ]
}

const ordinalsOf = (language: Language): Rule[] => [
  rule('digit', `(\\d{1,3})\\.?([ºª°])(?![CF]\\b)(?=${gap}?\\p{L}|[.,;)]|$|\\s)`, ([, digits = '', mark]) =>
    ordinal(Number(digits), mark === 'ª' ? 'a' : 'o'),
  ),
  rule('digit', `(\\d{1,3})\\.?(er|do|to|mo|vo|no|ro)${wordEnd}`, ([, digits = '', ending]) =>
    ordinal(Number(digits), ending === 'er' ? 'short' : 'o'),
  ),
  rule('digit', `(\\d{1,3})\\.?(?:ra|da|ta|ma|va|na)${wordEnd}`, ([, digits = '']) => ordinal(Number(digits), 'a')),
  rule(
    'letter',
    `(?<=\\b(?:siglo|capítulo|tomo|Luis|Carlos|Felipe|Alfonso|Fernando|Juan Pablo|Juan Carlos|Isabel|Benedicto|Pío)\\s)([IVXL]{1,6})${wordEnd}`,
    (match) => {
      const value = romanValue(match[1] ?? '')
      const isPerson = /\p{Lu}\p{Ll}+\s$/u.test(match.input.slice(Math.max(0, match.index - 12), match.index))
      return (
        (isPerson && value < 11
          ? ordinal(value, /Isabel\s$/.test(match.input.slice(0, match.index)) ? 'a' : 'o')
          : null) ?? cardinalOf(String(value), language)
      )
    },
  ),
]

export function spanishRules(language: Language): Rule[] {
  return [
    ...timesOf(language),
    ...datesOf(language),
    ...ordinalsOf(language),
    rule('letter', `[Nn]\\.?[º°]s?\\.?${gap}?(?=\\d)`, () => 'número'),
    rule(
      'letter',
      `(${day})\\.(?<=\\p{L}{2}\\.)(?=,?${gap}\\d{1,2}(?:[/.]\\d|${gap}(?:de${gap})?${anyOf([...months, ...shortMonths.keys()])}))`,
      ([, name = '']) => days.get(name) ?? null,
    ),
    rule('letter', `(${day})\\.?${gap}?[-–—]${gap}?(${day})${wordEnd}`, ([, from = '', to = '']) =>
      isSize(from, to) ? null : `${days.get(from)} a ${days.get(to)}`,
    ),
    rule('letter', `p{1,2}\\.${gap}?(?=\\d)`, ([written]) => (written.startsWith('pp') ? 'páginas' : 'página')),
  ]
}
