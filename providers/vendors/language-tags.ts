/** Converts language tags between canonical BCP 47, which all other code uses, and a vendor's codes. */
import { type Vendor, type VendorId, vendors } from './vendors.ts'

/** Converts a canonical tag to the vendor's spelling. */
export function vendorTag(id: VendorId, tag: string): string {
  const { languageTags }: Vendor = vendors[id]
  if (languageTags === undefined) return tag
  const { codes, spell } = languageTags
  return Object.hasOwn(codes, tag) ? (codes[tag] as string) : spell ? spell(tag) : tag
}

/**
 * Converts a vendor's code to a canonical tag: `deu` becomes `de`, `en_us` becomes `en-US`, and `cmn` becomes `zh`.
 * Returns undefined if the code is not a language.
 */
export function canonicalTag(code: unknown): string | undefined {
  if (typeof code !== 'string' || code === '') return undefined
  // A faster path without Intl, because some vendors send a code for every word and Intl needs 3 µs. A two-letter code
  // is canonical unless BCP 47 has replaced it.
  if (twoLetters.test(code) && !replacedCodes.has(code)) return code
  try {
    return Intl.getCanonicalLocales(code.replaceAll('_', '-'))[0]
  } catch {
    return undefined
  }
}

/** Returns the same as `canonicalTag`, as an object to spread into a transcript. */
export function detectedLanguage(code: unknown): { language?: string } {
  const language = canonicalTag(code)
  return language === undefined ? {} : { language }
}

const twoLetters = /^[a-z]{2}$/
const replacedCodes: ReadonlySet<string> = new Set(['in', 'iw', 'ji', 'jw', 'mo', 'sh', 'tl'])
