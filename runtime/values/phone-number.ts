import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max'
import { loadPhoneNumbers } from '../optional.ts'

/** Whether a number in E.164 can be that of a phone, by the numbering plan of its country. */
export function isPhoneNumber(text: string): boolean {
  return loadPhoneNumbers().isValidPhoneNumber(text)
}

/**
 * A number as a line writes it, in E.164. Null: it is no valid number. `ours` is the number of ours, in E.164, that was
 * dialled: a national number is one of its country, and of the United States without it. Digits can be read in two ways
 * where the country's code begins them, so the first of these that is valid counts: as people of the country write them,
 * with its code and without the plus, and without the prefix that people there dial first.
 */
export function e164Of(text: string, ours?: string): string | null {
  const home = ours === undefined ? { country: 'US' as const, countryCallingCode: '1' } : parsed(ours)
  const national = valid(parsed(text, home?.country))
  if (!/^\d+$/.test(text)) return national?.number ?? null
  if (national?.formatNational().replace(/\D/g, '') === text) return national.number
  const international = valid(parsed(`+${text}`))
  const isOfHome = international !== undefined && international.countryCallingCode === home?.countryCallingCode
  return (isOfHome ? international : national)?.number ?? null
}

/** Whether a line means this number: in E.164, with or without its plus, or as people of its country dial it. */
export function isDialed(text: string, e164: string): boolean {
  const digits = text.replace(/[^+\d]/g, '')
  if (digits === e164 || `+${digits}` === e164) return true
  const country = parsed(e164)?.country
  return country !== undefined && parsed(digits, country)?.number === e164
}

/** Whether a number in E.164 can be that of a phone in the United States. */
export function isUsNumber(text: string): boolean {
  return valid(parsed(text))?.country === 'US'
}

/** A number in E.164 as people of its country write it. */
export function nationalForm(e164: string): string {
  return parsed(e164)?.formatNational() ?? e164
}

function valid(number: PhoneNumber | undefined): PhoneNumber | undefined {
  return number?.isValid() === true ? number : undefined
}

/** `country` is where a number without a country code is dialed. */
function parsed(text: string, country?: CountryCode): PhoneNumber | undefined {
  return loadPhoneNumbers().parsePhoneNumberFromString(text, country)
}
