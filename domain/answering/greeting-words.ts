/** Finds the phrases that distinguish machines from people. */
import type { GreetingWords } from '../conversation/words/languages/language-words.ts'
import { perLanguage } from '../conversation/words/languages/languages.ts'
import { hyphenSpellings, Phrases } from '../conversation/words/phrases.ts'

const byWeight = ['person', 'voicemail', 'conversing', 'busy', 'ambiguous', 'excuse'] as const
const phrasesOf = perLanguage(({ greetings }) =>
  byWeight.map((kind) => ({ kind, phrases: new Phrases(greetings[kind]) })),
)

/**
 * Returns the kind of the most reliable phrase in the text. A person's question comes first: "do you want to leave a
 * message" contains a mailbox phrase too. Mailbox phrases come before menus, because a mailbox has menus too. A busy
 * person uses the same excuses as a mailbox, but no mailbox phrase. Null if the text has no known phrase. If the
 * language is unknown, the English phrases are used.
 */
export function greetingIn(text: string, language: string): keyof GreetingWords | null {
  const spellings = hyphenSpellings(text)
  const found = phrasesOf(language).find(({ phrases }) => spellings.some((said) => phrases.within(said)))
  return found?.kind ?? null
}
