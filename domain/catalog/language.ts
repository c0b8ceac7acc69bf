import { Fault } from '../records/fault.ts'

/** A BCP 47 tag in canonical form and its base language: `es-MX` and `es`. */
export type Language = { tag: string; base: string }

/** If a request has no language, figures for this language are used. It excludes no model. */
export const defaultLanguage = 'en'

/** Reads a language tag. Throws the fault `bad_language_tag`. */
export function readLanguage(tag: string): Language {
  try {
    const locale = new Intl.Locale(tag)
    return { tag: locale.toString(), base: locale.language }
  } catch (cause) {
    throw new Fault({ kind: 'bad_language_tag' }, { cause })
  }
}

/**
 * Returns the base language, such as `fil` for `fil-PH`. `*` stays. Our catalog's rows are trusted, so a malformed tag
 * causes no error.
 */
export function baseOf(tag: string): string {
  const dash = tag.indexOf('-')
  return (dash < 0 ? tag : tag.slice(0, dash)).toLowerCase()
}

/**
 * Returns the tag for a provider. The tag with a region is used only if the row lists it, because vendors refuse
 * unknown regions.
 */
export function spoken(languages: readonly string[], language: Language): string {
  return languages.includes(language.tag) ? language.tag : language.base
}
