/** Rules for French only: dates, times, ordinals. */
import { ordinal } from './fr-numbers.ts'
import type { Language } from './language.ts'
import { cardinalOf, isDate, isTime, romanValue } from './numbers.ts'
import { anyOf, gap, isAtEnd, type Rule, rule, wordEnd, wordsOf } from './rule.ts'

const months = 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' ')
const shortMonths = wordsOf(`
janv. jan. | janvier
févr. fév. fevr. | février
avr. | avril
juil. | juillet
sept. | septembre
oct. | octobre
nov. | novembre
déc. dec. | décembre
`)
const days = wordsOf(`
lun Lun | lundi
mar Mar | mardi
mer Mer | mercredi
jeu Jeu | jeudi
ven Ven | vendredi
sam Sam | samedi
dim Dim | dimanche
`)
const day = anyOf(days.keys())
const month = `(${anyOf([...months, ...shortMonths.keys()])})`

const datesOf = (language: Language): Rule[] => {
  const spoken = (dayNumber: string, name: string, year?: string) => {
    const number = Number(dayNumber) === 1 ? 'premier' : cardinalOf(dayNumber, language)
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
      String.raw`(?<=\b(?:[Ll]e|du|au|dès le)\s)(\d{1,2})\/(\d{1,2})(?![\d/])`,
      ([, dayNumber = '', number = '']) => numeric(dayNumber, number),
    ),
    rule('digit', String.raw`(\d{4})-(\d{2})-(\d{2})(?=[T\s.,;:!?)]|$)`, ([, year, number = '', dayNumber = '']) =>
      numeric(dayNumber, number, year),
    ),
    rule(
      'digit',
      `(\\d{1,2})(?:er)?${gap}${month}(?!\\p{L})(?:${gap}(\\d{4})(?!\\d))?`,
      ([, dayNumber = '', name = '', year]) =>
        isDate(dayNumber, '1') ? spoken(dayNumber, shortMonths.get(name) ?? name, year) : null,
    ),
  ]
}

const timesOf = (language: Language): Rule[] => {
  const time = (hour: string, minute = '00', second?: string) => {
    if (!isTime(hour, minute)) return null
    const minutes = Number(minute) === 0 && second === undefined ? '' : ` ${cardinalOf(minute, language, 'f')}`
    const seconds = second === undefined ? '' : ` et ${cardinalOf(second, language, 'f')} secondes`
    return `${cardinalOf(hour, language, 'f')} ${Number(hour) < 2 ? 'heure' : 'heures'}${minutes}${seconds}`
  }
  return [
    rule(
      'digit',
      `(\\d{1,2}):(\\d{2})(?::(\\d{2}))?(?![\\d:]|[.,]\\d)(?:${gap}?h${wordEnd})?`,
      ([, hour = '', minute, second]) => time(hour, minute, second),
    ),
    rule('digit', `(\\d{1,2})${gap}?[hH]${gap}?(\\d{2})(?!\\d)(?:${gap}?min${wordEnd})?`, ([, hour = '', minute]) =>
      time(hour, minute),
    ),
    rule('digit', `(\\d{1,3})${gap}?[hH]${wordEnd}`, ([, hour = '']) => time(hour)),
  ]
}

const centuries = `(?=${gap}(?:siècle|siècles|arrondissement|République|étage)${wordEnd})`

const ordinalsOf = (language: Language): Rule[] => [
  rule(
    'digit',
    `1(er|re|ère|ers|res)${wordEnd}`,
    ([, ending = '']) => `${ordinal('1', ending.startsWith('e') ? 'm' : 'f')}${ending.endsWith('s') ? 's' : ''}`,
  ),
  rule('digit', `2(nde?s?)${wordEnd}`, ([, ending = '']) => `seco${ending}`),
  rule(
    'digit',
    `(\\d{1,6})(?:e|ème|eme|ième|es|èmes)${wordEnd}`,
    ([written, digits = '']) => `${ordinal(digits)}${written.endsWith('s') ? 's' : ''}`,
  ),
  rule('letter', `([IVXL]{1,6})(?:e|ème)${centuries}`, ([, numeral = '']) => ordinal(String(romanValue(numeral)))),
  rule('letter', `(?<=\\b(?:François|Napoléon|Albert|Nicolas)\\s)Ier${wordEnd}`, () => 'premier'),
  rule(
    'letter',
    `(?<=\\b(?:Louis|Henri|Charles|François|Napoléon|Philippe|Jean-Paul|Benoît|chapitre|tome|acte|Élisabeth|type)\\s)([IVXL]{1,6})${wordEnd}`,
    ([, numeral = '']) => cardinalOf(String(romanValue(numeral)), language),
  ),
]

export function frenchRules(language: Language): Rule[] {
  return [
    ...timesOf(language),
    ...datesOf(language),
    ...ordinalsOf(language),
    rule('letter', `M\\.(?=${gap}(?:\\p{Lu}|et${gap}))`, () => 'monsieur'),
    rule('letter', `MM\\.(?=${gap}\\p{Lu})`, () => 'messieurs'),
    rule('letter', `[Nn][°º]s?\\.?${gap}?(?=\\d)`, () => 'numéro'),
    rule('letter', `p{1,2}\\.${gap}?(?=\\d)`, ([written]) => (written.startsWith('pp') ? 'pages' : 'page')),
    rule(
      'letter',
      `(${day})\\.(?=,?${gap}\\d{1,2}(?:er)?(?:[/.]\\d|${gap}${month}))`,
      ([, name = '']) => days.get(name) ?? null,
    ),
    rule(
      'letter',
      `(${day})\\.?${gap}?[-–—]${gap}?(${day})(?![\\p{L}\\p{N}])(\\.?)`,
      (match) =>
        `${days.get(match[1] ?? '')} à ${days.get(match[2] ?? '')}${match[3] !== '' && isAtEnd(match) ? '.' : ''}`,
    ),
  ]
}
