import { Fault } from '../records/fault.ts'

/** A BCP 47 tag in canonical form and the language that it is a variety of: `es-MX` and `es`. */
export type Language = { tag: string; base: string }

/** Figures are read in this language when a request names none. Nothing is filtered by it. */
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

/** `fil` of `fil-PH`; `*` stays. Catalog rows are ours, so a malformed tag is taken as it stands. */
export function baseOf(tag: string): string {
  const dash = tag.indexOf('-')
  return (dash < 0 ? tag : tag.slice(0, dash)).toLowerCase()
}

/** The form of the tag that a provider is sent: a variety only where the row lists it, because vendors refuse the ones they do not know. */
export function spoken(languages: readonly string[], language: Language): string {
  return languages.includes(language.tag) ? language.tag : language.base
}
