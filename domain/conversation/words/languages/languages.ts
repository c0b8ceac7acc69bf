/** The table of languages. A new language needs a file in this folder and a row here. */
import type { Pipeline } from '../../../records/pipeline.ts'
import { arabic } from './arabic.ts'
import { chinese } from './chinese.ts'
import { dutch } from './dutch.ts'
import { english } from './english.ts'
import { french } from './french.ts'
import { german } from './german.ts'
import { hindi } from './hindi.ts'
import { italian } from './italian.ts'
import { japanese } from './japanese.ts'
import { korean } from './korean.ts'
import type { AgentSentences, LanguageWords } from './language-words.ts'
import { polish } from './polish.ts'
import { portuguese } from './portuguese.ts'
import { russian } from './russian.ts'
import { spanish } from './spanish.ts'
import { swedish } from './swedish.ts'
import { turkish } from './turkish.ts'

/** A language's words, with the English words for the parts that the language's file does not have. */
export type WholeWords = Required<Omit<LanguageWords, 'agent'>> & { agent: Required<AgentSentences> }

export const languages: Readonly<Record<string, WholeWords>> = {
  en: english,
  de: whole(german),
  es: whole(spanish),
  fr: whole(french),
  it: whole(italian),
  pt: whole(portuguese),
  nl: whole(dutch),
  ru: whole(russian),
  pl: whole(polish),
  sv: whole(swedish),
  tr: whole(turkish),
  ja: whole(japanese),
  zh: whole(chinese),
  ko: whole(korean),
  hi: whole(hindi),
  ar: whole(arabic),
}

function whole(words: LanguageWords): WholeWords {
  return { ...english, ...words, agent: { ...english.agent, ...words.agent } }
}

/** Returns the words for a language tag. An unknown language gets the English words. */
export function wordsOfLanguage(tag: string): WholeWords {
  return languages[baseOf(tag)] ?? english
}

function baseOf(tag: string): string {
  return tag.toLowerCase().split(/[-_]/)[0] as string
}

/**
 * Returns the language of the caller's words: the agent's language, or the recognizer's language if only that has a
 * table here, or English.
 */
export function callersLanguage({ intent, sttOptions }: Pick<Pipeline, 'intent' | 'sttOptions'>): string {
  return [intent.language, sttOptions.language ?? ''].find((tag) => baseOf(tag) in languages) ?? 'en'
}

/** Makes a value from a language's words when a text in the language first needs it, and keeps it for later texts. */
export function perLanguage<T>(make: (words: WholeWords) => T): (tag: string) => T {
  const made = new Map<WholeWords, T>()
  return (tag) => {
    const words = wordsOfLanguage(tag)
    const value = made.get(words) ?? make(words)
    made.set(words, value)
    return value
  }
}
