/** The languages that the scripted model speaks. */
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import type { ScriptLanguage } from './script-language.ts'

const languages: Readonly<Record<string, ScriptLanguage>> = { en, de, es, fr, it }

export const scriptLanguages: readonly ScriptLanguage[] = Object.values(languages)
/** Base languages, English first. */
export const scriptLanguageTags: readonly string[] = Object.keys(languages)

const commonWords = scriptLanguages.map((language) => ({ language, words: new Set(language.empty.split(' ')) }))

/**
 * Returns the language for an answer: the request's language, or else the language with the most common words in the
 * user's words, or else in the prompt, or else English.
 */
export function languageOf(tag: string | undefined, said: string, prompt: string): ScriptLanguage {
  const requested = tag === undefined ? undefined : languages[tag.toLowerCase().split(/[-_]/)[0] as string]
  return requested ?? languageIn(said) ?? languageIn(prompt) ?? en
}

/** Returns the base language for a text, such as "de". A text without common words counts as English. */
export function languageTagIn(text: string): string {
  const language = languageIn(text) ?? en
  return scriptLanguageTags.find((tag) => languages[tag] === language) ?? 'en'
}

/**
 * Returns the language with the most common words in the text. Null if no language has more than all others. Thanks and
 * greetings count as one word.
 */
function languageIn(text: string): ScriptLanguage | null {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  const scores = commonWords.map(({ language: { triggers }, words: common }) => {
    const courtesies = [triggers.hello, triggers.thanks, triggers.goodbye].filter((courtesy) => courtesy.test(text))
    return words.filter((word) => common.has(word)).length + courtesies.length
  })
  const best = Math.max(...scores)
  const first = scores.indexOf(best)
  return scores.lastIndexOf(best) === first ? (commonWords[first]?.language ?? null) : null
}
