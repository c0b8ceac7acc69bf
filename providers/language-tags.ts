/**
 * How vendors spell languages where that is not BCP 47 in its canonical form, in one table. What a vendor's own reference or client shows is
 * here, and nothing else: a tag that is not listed goes out as it is.
 */
type Spelling = {
  /** Canonical tag → the vendor's code. */
  codes: Readonly<Record<string, string>>
  /** What becomes of a tag that is not listed. */
  rest?: (tag: string) => string
}

const spellings = {
  // Lower case with an underscore, and codes that BCP 47 has replaced.
  assemblyai: {
    codes: { 'en-GB': 'en_uk', jv: 'jw', fil: 'tl' },
    rest: (tag) => tag.toLowerCase().replaceAll('-', '_'),
  },
  // Tagalog is Filipino, and Bokmål the Norwegian that is meant, in the canonical form of a tag.
  deepgram: { codes: { fil: 'tl', nb: 'no' } },
  soniox: { codes: { fil: 'tl' } },
  // Mandarin by its own code.
  speechmatics: { codes: { zh: 'cmn' } },
} as const satisfies Record<string, Spelling>

export type SpellingVendor = keyof typeof spellings

/** A canonical tag, in the vendor's spelling. */
export function vendorTag(vendor: SpellingVendor, tag: string): string {
  const { codes, rest }: Spelling = spellings[vendor]
  return Object.hasOwn(codes, tag) ? (codes[tag] as string) : rest ? rest(tag) : tag
}

/** What a vendor says that it heard, as a canonical tag: `deu`, `en_us` and `cmn` are `de`, `en-US` and `zh`. Undefined for what is no language. */
export function canonicalTag(code: unknown): string | undefined {
  if (typeof code !== 'string' || code === '') return undefined
  if (heard.has(code)) return heard.get(code)
  const tag = canonical(code)
  if (heard.size < heardMax) heard.set(code, tag)
  return tag
}

/** The same, to be spread into what was heard. */
export function heardLanguage(code: unknown): { language?: string } {
  const language = canonicalTag(code)
  return language === undefined ? {} : { language }
}

/** Some vendors say it with every word. */
const heard = new Map<string, string | undefined>()
const heardMax = 1000

function canonical(code: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(code.replaceAll('_', '-'))[0]
  } catch {
    return undefined
  }
}
