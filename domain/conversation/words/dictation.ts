/**
 * Recognizes texts that end inside a dictated number, a mail address or a spelled name. Speakers pause after each
 * group, so a pause there does not end the turn.
 */
import type { Announcement } from './languages/language-words.ts'
import { perLanguage } from './languages/languages.ts'
import { isWithinMail } from './mail-address.ts'
import { isInternational, phoneDigitsMin } from './phone-numbers.ts'
import { plain } from './phrases.ts'
import { isWithinSpelling } from './spelling.ts'
import { type DictatedNumber, digitByDigitAtEnd, digitsOf, numberAtEnd, withFigures } from './spoken-numbers.ts'

/** If no words announce a number, digits count as a dictated number only if there are at least two groups. */
const groupsMin = 2
/** The length of a bank account number (IBAN) in each country, with its country code. */
const ibanLengths: Readonly<Record<string, number>> = {
  de: 22,
  at: 20,
  ch: 21,
  li: 21,
  es: 24,
  fr: 27,
  it: 27,
  gb: 22,
  ie: 22,
  nl: 18,
  be: 16,
  lu: 20,
  pt: 25,
}
/** For countries without a row: no IBAN is shorter than this. */
const anyIbanLength = 15
/** A part of a code such as "GB29 NWBK": a single letter, a country, a bank, or a word with a digit. */
const codePart = new RegExp(`^(?:[a-z]|${Object.keys(ibanLengths).join('|')}|(?!iban)[a-z]{4}|[a-z]*\\d[a-z\\d]*)$`)
const verbOf = perLanguage(({ dictation }) => new RegExp(`(?:^| )(?:${dictation.is})$`, 'u'))
const announcementsOf = perLanguage(({ dictation }) => dictation.announcements)

export function isWithinDictation(text: string, language: string): boolean {
  const words = plain(withPlus(text))
  return (
    isWithinMail(text, language) ||
    isWithinCode(withFigures(words, language), language) ||
    isWithinNumber(text, language) ||
    isAnnouncement(words, language) ||
    isWithinSpelling(words, language)
  )
}

function isWithinNumber(text: string, language: string): boolean {
  const announced = numberAtEnd(plain(withPlus(text)), language)
  const announcement = announcementsOf(language).find(({ words }) => words.test(announced.before))
  if (announcement !== undefined && 'digits' in announcement && announced.groups.length > 0)
    return isShort(announced, announcement, language)
  const words = plain(withPlus(withoutQuantities(text)))
  const all = numberAtEnd(words, language)
  const isPhone = digitsOf(all).startsWith('0') || isInternational(all, language)
  const number = isPhone ? all : digitByDigitAtEnd(words, language)
  const groups = number.groups.length + Number(isInternational(number, language))
  if (isPrefix(all)) return true
  return groups >= groupsMin && digitsOf(number).length < phoneDigitsMin(number, language)
}

/** Returns true for the beginning of a phone number in digits: "0151". */
function isPrefix({ groups: [first = '', ...more] }: DictatedNumber): boolean {
  return more.length === 0 && /^0[1-9]\d{1,4}$/.test(first)
}

/** Returns true if the number has yet to come: "my booking number is". */
function isAnnouncement(words: string, language: string): boolean {
  return verbOf(language).test(words) && announcementsOf(language).some((each) => each.words.test(words))
}

function isShort(number: DictatedNumber, { digits, isClock }: AnnouncedDigits, language: string): boolean {
  if (isClock && mayBeClock(number)) return false
  return digitsOf(number).length < (digits === 'phone' ? phoneDigitsMin(number, language) : digits)
}
type AnnouncedDigits = Extract<Announcement, { digits: unknown }>

/** Returns true if the groups can be a time of day: "5", "10 30" and "ten thirty". */
function mayBeClock({ groups: [hours = '', minutes = '00', ...more] }: DictatedNumber): boolean {
  return hours.length <= 2 && minutes.length === 2 && more.length === 0
}

/** Returns true inside an announced code with letters, such as an IBAN. `words` has digits for spoken numbers. */
function isWithinCode(words: string, language: string): boolean {
  const list = words.split(' ')
  const beginsAt = list.findLastIndex((word) => !codePart.test(word)) + 1
  const before = list.slice(0, beginsAt).join(' ')
  const announcement = announcementsOf(language).find((each) => 'code' in each && each.words.test(before))
  if (announcement === undefined || !('code' in announcement)) return false
  const parts = list.slice(beginsAt)
  const code = parts.join('')
  if (!/\d/.test(code)) return code !== '' && parts.every((part) => part.length <= 2)
  const length = announcement.code === 'iban' ? (ibanLengths[code.slice(0, 2)] ?? anyIbanLength) : announcement.code
  return code.length < length
}

/** Writes the plus before a country code as a word. */
function withPlus(text: string): string {
  return text.replaceAll(/\+(?=\s*\d)/g, ' plus ')
}

/**
 * Replaces times, dates, amounts and numbers with a thousands separator by a word. They have punctuation inside, and
 * callers say them without a pause.
 */
function withoutQuantities(text: string): string {
  return text.replaceAll(
    /(?<![\d.,:/])(?:\d{1,2}:\d\d|\d{1,2}([./])\d{1,2}\1\d{2,4}|[1-9]?\d[.,]\d{1,2}|[1-9]\d{0,2}(?:[.,]\d{3})+)(?![\d:/]|[.,]\d)/g,
    'quantity',
  )
}
