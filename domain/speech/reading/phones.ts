/** Phone numbers, card numbers and codes: their digits are spoken in groups. */
import type { Language } from './language.ts'
import { digitByDigit } from './numbers.ts'
import { inGroups } from './quantities.ts'
import { gap, type Rule, rule, wordEnd } from './rule.ts'

const separator = String.raw`[ .\-–‑/()\u00a0\u202f]{1,3}`
const noDigit = String.raw`(?![\d\p{L}]|[.,:/–-]\d)`
const extension = String.raw`(?:,?[ ]?(?:x|ext\.?)[ ]?(\d{1,6}))?`
/** A phone number has at most 15 digits (E.164). */
const digitsMax = 15

/** Written phone numbers that are recognized without a plus or a zero in front. */
const national = [
  // North America: 1-800-555-1234, (212) 555-1234, 212.555.1234, 555-1234.
  String.raw`(?:1[-. –])?(?:\(\d{3}\)[ -]?|\d{3}[-. –])\d{3}[-. –]\d{4}`,
  String.raw`\d{3} \d{3}[-–]\d{3,4}`,
  String.raw`(?!\d{2}0\s?[-–]\s?\d{3}0)[2-9]\d{2}\s?[-–]\s?\d{4}`,
  // Spain: 912 345 678, 612 34 56 78.
  String.raw`[6-9]\d{2} \d{3} \d{3}`,
  String.raw`[6-9]\d{2} \d{2} \d{2} \d{2}`,
  // Italy: 333 123 4567, 333 1234567.
  String.raw`3\d{2}[ .-]\d{3}[ .-]?\d{4}`,
  // France: 0 800 123 456.
  String.raw`0 \d{3} \d{3} \d{3}`,
  String.raw`\d{3} \d{3} ?\d{3,4}(?= ?$)`,
]

export function phoneRules(language: Language): Rule[] {
  const read = (written: string) => spokenGroups(written, language)
  const number = (pattern: string) =>
    rule(['digit', 'sign'], `(${pattern})${extension}${noDigit}`, ([, written = '', inner]) => {
      const count = written.replace(/\D/g, '').length
      if (count < 5 || count > digitsMax) return null
      const spoken = read(written)
      return inner === undefined ? spoken : `${spoken}, ${language.phrases.extension} ${digitByDigit(inner, language)}`
    })
  return [
    rule('digit', String.raw`\d{4}(?:[ -]\d{4}){3}(?:[ -]\d{3})?${noDigit}`, ([card]) => read(card)),
    number(String.raw`\+${gap}?\(?\d{1,4}\)?(?:${separator}\d{1,9}){1,6}`),
    rule('sign', String.raw`\+1\d{10}${noDigit}`, ([written]) =>
      read(written.replace(/(\d)(\d{3})(\d{3})(\d{4})$/, '$1 $2 $3 $4')),
    ),
    rule(
      'sign',
      String.raw`\+(\d{7,15})${noDigit}`,
      ([, digits = '']) => `${language.phrases.plus} ${inGroups(digits, language)}`,
    ),
    number(String.raw`(?<![\d.,])00\d{1,3}(?:${separator}\d{2,9}){1,6}`),
    number(String.raw`(?<![\d.,])\(?0\d{1,5}\)?(?:${separator}\d{2,9}){1,5}`),
    ...(language.tag === 'en'
      ? [
          rule(
            'digit',
            String.raw`(1-\d{3})-([A-Z]{4,8})${wordEnd}`,
            ([, digits = '', letters = '']) => `${read(digits)}, ${letters.toLowerCase()}`,
          ),
        ]
      : []),
    ...national.map(number),
    rule('sign', String.raw`([*#])(\d{1,6})([*#])?(?!\d)`, ([, first = '', digits = '', last]) => {
      if (first === '#' && last === undefined) return null
      return [first, digits, last ?? '']
        .flatMap((part) => (/\d/.test(part) ? digitByDigit(part, language) : (language.signs.get(part) ?? [])))
        .join(' ')
    }),
    ...codesOf(language),
  ]
}

function spokenGroups(written: string, language: Language): string {
  const groups = written.match(/\d+/g) ?? []
  const spoken = groups
    .map((group) => (group.length > 5 ? inGroups(group, language) : language.phoneGroup(group)))
    .join(', ')
  return written.trimStart().startsWith('+') ? `${language.phrases.plus} ${spoken}` : spoken
}

/** Account numbers, order numbers, plates: letters and digits are spelled. Words with a number stay words. */
function codesOf(language: Language): Rule[] {
  const spell = (code: string) =>
    (code.match(/\p{L}+|\d+/gu) ?? [])
      .map((part) =>
        /\d/.test(part)
          ? part.length > 5
            ? inGroups(part, language)
            : digitByDigit(part, language)
          : language.phrases.letters([...part.toUpperCase()]),
      )
      .join(' ')
  return [
    rule('letter', String.raw`[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?${wordEnd}`, ([iban]) =>
      iban.split(/ /).map(spell).join(', '),
    ),
    rule(
      ['letter', 'digit'],
      String.raw`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}${wordEnd}`,
      ([id]) => id.split('-').map(spell).join(', '),
      'i',
    ),
    rule(
      ['letter', 'digit'],
      String.raw`(?=[A-Z-]{0,20}\d)(?=[\d-]{0,20}[A-Z])[A-Z0-9]{1,20}(?:-[A-Z0-9]{1,20}){0,5}(?![\p{L}\p{N}-])`,
      ([code]) => (isCode(code) ? code.split('-').map(spell).join(', ') : null),
    ),
    rule('letter', String.raw`([A-Z]{1,5})-(\d{3,12})${wordEnd}`, ([code]) => spell(code)),
    rule(
      'letter',
      String.raw`(\p{L}{2,30})-(\d{1,2})${wordEnd}`,
      ([, word = '', digits = '']) => `${word} ${language.cardinal(String(Number(digits)))}`,
    ),
  ]
}

/** "MP3", "B12" and "5G" are words with a number, "7XK9P2" and "AB1234" are codes. */
function isCode(code: string): boolean {
  const parts = code.match(/[A-Z]+|\d+/g) ?? []
  return parts.length > 2 || (code.match(/\d/g)?.length ?? 0) > 3
}
