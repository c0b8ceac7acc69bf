import { Fault } from '../records/fault.ts'

/** A BCP 47 tag in canonical form and its base language: `es-MX` and `es`. */
export type Language = { tag: string; base: string }

/**
 * If a request names no language, models are ranked by their published figures (such as word error rates) for this
 * language. The default excludes no model.
 */
export const defaultLanguage = 'en'

/** Reads a language tag. Throws the fault `bad_language_tag`. */
export function readLanguage(tag: string): Language {
  try {
    const locale = new Intl.Locale(tag)
    return { tag: locale.toString(), base: locale.language }
  } catch {
    // The fault gets no cause, because every cause is logged, and a client's malformed tag needs no log line.
    throw new Fault({ kind: 'bad_language_tag' })
  }
}

/**
 * Returns the base language, such as `fil` for `fil-PH`. `*` is returned unchanged. The function does not validate the
 * tag, because the catalog's tags are written by us.
 */
export function baseOf(tag: string): string {
  const dash = tag.indexOf('-')
  return (dash < 0 ? tag : tag.slice(0, dash)).toLowerCase()
}

/**
 * Returns the tag for a provider. The region is kept only if the model lists the tag with its region, because vendors
 * refuse unknown regions.
 */
export function spoken(languages: readonly string[], language: Language): string {
  return languages.includes(language.tag) ? language.tag : language.base
}
