/** Returns the minimum length of a phone number, from its first digits. */
import { perLanguage } from './languages/languages.ts'
import { type DictatedNumber, digitsOf } from './spoken-numbers.ts'

/** From this many digits on, a number without a known form may be complete. */
const digitsWhole = 7
/** The shortest numbers with their country code. Countries without a row have `anyCountryDigits`. */
const countries: readonly { starts: RegExp; digits: number }[] = [
  { starts: /^1/, digits: 11 },
  { starts: /^3[349]/, digits: 11 },
  { starts: /^44/, digits: 12 },
  { starts: /^491[567]/, digits: 12 },
  { starts: /^49/, digits: 11 },
]
const anyCountryDigits = 10
const plusOf = perLanguage(({ dictation }) => new RegExp(`(?:^| )(?:plus|${dictation.plus})$`, 'u'))
const formsOf = perLanguage(({ dictation }) => dictation.phoneForms)

/** Returns true if the number begins with a country code: "+49" or "0049". */
export function isInternational(number: DictatedNumber, language: string): boolean {
  return /^00[1-9]?/.test(digitsOf(number)) || plusOf(language).test(number.before)
}

export function phoneDigitsMin(number: DictatedNumber, language: string): number {
  const digits = digitsOf(number)
  if (isInternational(number, language)) {
    const code = digits.replace(/^00/, '')
    const country = countries.find(({ starts }) => starts.test(code))
    return digits.length - code.length + (country?.digits ?? anyCountryDigits)
  }
  const spaced = number.groups.join(' ')
  return formsOf(language).find(({ starts }) => starts.test(spaced))?.digits ?? digitsWhole
}
