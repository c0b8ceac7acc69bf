/** Languages by the codes of this vendor: those of Whisper, which are ISO 639-1 with a few of its own. */

/** The canonical tags of Filipino and Javanese are newer, and Bokmål is the Norwegian that is meant. */
const codes: Partial<Record<string, string>> = { fil: 'tl', jv: 'jw', nb: 'no' }

export const toCode = (tag: string): string => codes[tag] ?? tag

/** Undefined where it is none. */
export function toTag(code: unknown): string | undefined {
  if (typeof code !== 'string' || code === '') return undefined
  try {
    return Intl.getCanonicalLocales(code)[0]
  } catch {
    return undefined
  }
}
