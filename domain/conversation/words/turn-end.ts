/** Decides from a transcript's words if the speaker is likely to continue. */
import { isWithinDictation } from './dictation.ts'
import { perLanguage } from './languages/languages.ts'
import { Phrases, plain } from './phrases.ts'

/** Only the transcript's end is read, so a long transcript costs no more time. */
const readCharactersMax = 200
const opened = /(?:[,;:–—-]|\.\.\.|…|、|，|；|：)\s*$/u
const closed = /[.!。！]\s*$/u
const question = /[?？]\s*$/u
const phrasesOf = perLanguage(({ turns }) => ({
  unfinished: new Phrases(turns.unfinished),
  particles: new Phrases(turns.particles ?? ''),
  openings: new Phrases(turns.openings ?? ''),
}))

/**
 * Returns false if the text ends in an open clause or in a dictation, because the speaker is then likely to continue
 * after a pause.
 */
export function looksFinished(text: string, language: string): boolean {
  const end = text.trimEnd().slice(-readCharactersMax)
  if (opened.test(end)) return false
  if (question.test(end)) return true
  const words = plain(end)
  if (words === '') return false
  const { unfinished, particles } = phrasesOf(language)
  if (unfinished.end(words) || (!closed.test(end) && particles.end(words))) return false
  return !isWithinDictation(words, language)
}

/** Returns true for a single word that begins requests as often as it is an answer: "Please" in "Please try again". */
export function isOpening(text: string, language: string): boolean {
  return !closed.test(text) && phrasesOf(language).openings.countIn(plain(text), 1) === 1
}
