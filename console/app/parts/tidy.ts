/** Turns the ways in which people write a value into the form that the API takes. Other texts stay, and are refused. */

/**
 * Returns the phone number in E.164. Without a "+", only US numbers are known: ten digits, or eleven if the first digit
 * is 1. Other numbers could belong to any country.
 */
export function e164Of(text: string): string {
  // In "+49 (0)30 901820" the 0 is dialled only inside the country.
  const international = text.trim().replace(/^(\+[1-9][0-9]{0,2})\s*\(0\)/, '$1')
  const digits = international.replaceAll(/[\s().-]/g, '')
  if (/^\+[1-9][0-9]{6,14}$/.test(digits)) return digits
  const [, national] = /^1?([2-9][0-9]{9})$/.exec(digits) ?? []
  return national === undefined ? text : `+1${national}`
}

/** Returns the website's URL. A text without a scheme gets https:// in front. */
export function websiteOf(text: string): string {
  const address = text.trim()
  return address === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `https://${address}`
}
