/** The summary of a call for a recipient, if the client of the API gives none: the last words of the caller. */

/** About six seconds of speech: the recipient has to decide within the time of the screening. */
const wordsMax = 100

/** `lastWords`: null where the caller has said nothing. */
export function defaultSummary(lastWords: string | null, language: string): string | null {
  const words = lastWords?.replace(/\s+/g, ' ').trim() ?? ''
  if (words === '') return null
  const letters = [...words]
  const cut = letters.slice(0, wordsMax).join('')
  const shown = letters.length <= wordsMax ? words : `${cut.slice(0, Math.max(cut.lastIndexOf(' '), 1))} …`
  return `${introductions[language.toLowerCase().split(/[-_]/)[0] as string] ?? introductions['en']} ${shown}`
}

const introductions: Readonly<Record<string, string>> = {
  en: 'The caller has said:',
  de: 'Der Anrufer hat gesagt:',
  es: 'La persona ha dicho:',
  fr: 'L’appelant a dit :',
  it: 'Il chiamante ha detto:',
  pt: 'A pessoa disse:',
  nl: 'De beller heeft gezegd:',
}
