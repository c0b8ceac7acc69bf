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
