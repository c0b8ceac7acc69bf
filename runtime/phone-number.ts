import { isValidPhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** Whether a number in E.164 can be that of a phone, by the numbering plan of its country. */
export function isPhoneNumber(text: string): boolean {
  return isValidPhoneNumber(text)
}

/** A number as a line writes it, in E.164. National numbers are those of the United States. Null: it is no valid number. */
export function e164Of(text: string): string | null {
  const number = parsePhoneNumberFromString(text, 'US')
  return number?.isValid() === true ? number.number : null
}

/** Whether a line means this number: in E.164, with or without its plus, or as people of its country dial it. */
export function isDialed(text: string, e164: string): boolean {
  const digits = text.replace(/[^+\d]/g, '')
  if (digits === e164 || `+${digits}` === e164) return true
  const country = parsePhoneNumberFromString(e164)?.country
  return country !== undefined && parsePhoneNumberFromString(digits, country)?.number === e164
}

/** Whether a number in E.164 can be that of a phone in the United States. */
export function isUsNumber(text: string): boolean {
  const number = parsePhoneNumberFromString(text)
  return number?.isValid() === true && number.country === 'US'
}

/** A number in E.164 as people of its country write it. */
export function nationalForm(e164: string): string {
  return parsePhoneNumberFromString(e164)?.formatNational() ?? e164
}
