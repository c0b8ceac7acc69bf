import { Fault } from '../records/fault.ts'

/** A BCP 47 tag in canonical form and its base language: `es-MX` and `es`. */
export type Language = { tag: string; base: string }

/** If a request names no language, figures are read in this one. It filters nothing. */
export const defaultLanguage = 'en'

/** Throws the fault bad_language_tag. */
export function readLanguage(tag: string): Language {
  try {
    const locale = new Intl.Locale(tag)
    return { tag: locale.toString(), base: locale.language }
  } catch (cause) {
    throw new Fault({ kind: 'bad_language_tag' }, { cause })
  }
}

/** `fil` of `fil-PH`; `*` stays. Catalog rows are ours, so a malformed tag is kept as it is. */
export function baseOf(tag: string): string {
  const dash = tag.indexOf('-')
  return (dash < 0 ? tag : tag.slice(0, dash)).toLowerCase()
}

/** The tag for a provider. A variety is sent only if the row lists it, because vendors refuse unknown varieties. */
export function spoken(languages: readonly string[], language: Language): string {
  return languages.includes(language.tag) ? language.tag : language.base
}
