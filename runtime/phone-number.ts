import { isValidPhoneNumber } from 'libphonenumber-js/max'

/** Whether a number in E.164 can be that of a phone, by the numbering plan of its country. */
export function isPhoneNumber(text: string): boolean {
  return isValidPhoneNumber(text)
}
