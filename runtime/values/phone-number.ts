import type { CountryCode, PhoneNumber } from 'libphonenumber-js/max'
import { loadPhoneNumbers } from '../optional.ts'

/**
 * True if the text is an E.164 number that is valid in its country's numbering plan. A text such as +49030901820 is
 * refused, although the parser drops its trunk prefix 0, because the text itself is stored and dialled.
 */
export function isPhoneNumber(text: string): boolean {
  return valid(parsed(text))?.number === text
}

/**
 * Converts a number, as a carrier or trunk sends it, to E.164. Null if it is not a valid number. `ours` is our dialled
 * number in E.164: a national number belongs to its country, or to the United States without `ours`. Plain digits can
 * be ambiguous if they begin with the country's code. The first valid reading counts: the country's usual national
 * notation, then the country's code without the plus, then the national number without its trunk prefix.
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

/**
 * True if the text, as a carrier or trunk sends it, means this number: in E.164, with or without its plus, or as
 * dialled within its country.
 */
export function isDialed(text: string, e164: string): boolean {
  const digits = text.replace(/[^+\d]/g, '')
  if (digits === e164 || `+${digits}` === e164) return true
  const country = parsed(e164)?.country
  return country !== undefined && parsed(digits, country)?.number === e164
}

/** True if the E.164 number is valid in the United States. */
export function isUsNumber(text: string): boolean {
  return valid(parsed(text))?.country === 'US'
}

/** Writes an E.164 number in its country's usual notation. */
export function nationalForm(e164: string): string {
  return parsed(e164)?.formatNational() ?? e164
}

function valid(number: PhoneNumber | undefined): PhoneNumber | undefined {
  return number?.isValid() === true ? number : undefined
}

/** Parses a number. `country` applies to a number without a country code. */
function parsed(text: string, country?: CountryCode): PhoneNumber | undefined {
  return loadPhoneNumbers().parsePhoneNumberFromString(text, country)
}
