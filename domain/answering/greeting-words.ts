/** Finds the phrases that distinguish machines from people. */
import type { GreetingWords } from '../conversation/words/languages/language-words.ts'
import { perLanguage } from '../conversation/words/languages/languages.ts'
import { hyphenSpellings, Phrases } from '../conversation/words/phrases.ts'

const byWeight = ['person', 'voicemail', 'conversing', 'busy', 'ambiguous', 'excuse'] as const
const phrasesOf = perLanguage(({ greetings }) =>
  byWeight.map((kind) => ({ kind, phrases: new Phrases(greetings[kind]) })),
)

/**
 * Returns the kind of the most reliable phrase in the text, in the order of `byWeight`. A person's question comes
 * first, because it may contain a mailbox phrase: "do you want to leave a message". Mailbox phrases come before phone
 * menus, because a mailbox has menus too. Excuses come last, because both people and mailboxes say them. Null if the
 * text has no known phrase. If the language is unknown, the English phrases are used.
 */
export function greetingIn(text: string, language: string): keyof GreetingWords | null {
  const spellings = hyphenSpellings(text)
  const found = phrasesOf(language).find(({ phrases }) => spellings.some((said) => phrases.within(said)))
  return found?.kind ?? null
}
