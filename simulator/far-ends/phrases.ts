/**
 * The sentences that a simulated person says besides the requested lines, and the words that end a conversation, by
 * language.
 */

export type Phrases = { farewell: string; isThere: string }

const english: Phrases = { farewell: 'Goodbye.', isThere: 'Hello? Are you there?' }
const byLanguage: Readonly<Record<string, Phrases>> = {
  en: english,
  de: { farewell: 'Auf Wiederhören.', isThere: 'Hallo? Sind Sie noch da?' },
  es: { farewell: 'Adiós.', isThere: '¿Hola? ¿Está usted ahí?' },
  fr: { farewell: 'Au revoir.', isThere: 'Allô ? Vous êtes là ?' },
  it: { farewell: 'Arrivederci.', isThere: 'Pronto? È ancora lì?' },
}
/** The person may speak one language and recognize another, so each language's goodbye ends the conversation. */
const goodbyes =
  /(?<!\p{L})(?:good ?-?bye|bye|auf wieder(?:hören|sehen)|tschüss?|adi[oó]s|hasta luego|au revoir|arrivederci)(?!\p{L})/iu

export function phrasesIn(language: string): Phrases {
  return byLanguage[language] ?? english
}

export function saysGoodbye(words: string): boolean {
  return goodbyes.test(words)
}
