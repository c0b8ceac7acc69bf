/** Decides from a transcript's words whether the speaker is likely to continue. */
import { isWithinDictation } from './dictation.ts'
import { perLanguage } from './languages/languages.ts'
import { Phrases, plain } from './phrases.ts'
import { isSpelledOut } from './spelling.ts'

/** Only the transcript's end is read, so a long transcript costs no more time. */
const readCharactersMax = 200
/** At most this many polite words follow the beginning of a request: "could you please maybe". */
const softenersMax = 4
const opened = /(?:[,;:–—-]|\.\.\.|…|、|，|；|：)\s*$/u
const closed = /[.!。！]\s*$/u
const question = /[?？]\s*$/u
/** A Spanish question has begun, and its last sign is missing. */
const begunQuestion = /¿[^?.!]*$/u
/** The words behind the last comma, or a text without a comma. */
const afterComma = /[^,，、.!?;:…–—]*[.!。！]?\s*$/u

const phrasesOf = perLanguage(({ turns }) => ({
  unfinished: new Phrases(turns.unfinished, turns.hesitations ?? '', turns.begunRequests ?? ''),
  begunRequests: new Phrases(turns.begunRequests ?? ''),
  softeners: new Phrases(turns.softeners ?? ''),
  particles: new Phrases(turns.particles ?? ''),
  openings: new Phrases(turns.openings ?? ''),
  fillers: new Phrases(turns.fillers ?? ''),
  complete: new Phrases(turns.complete ?? ''),
}))

/**
 * Returns false if the text ends in an open clause, a hesitation, a begun request or a dictation, because the speaker is
 * then likely to continue after a pause.
 */
export function looksFinished(text: string, language: string): boolean {
  const end = text.trimEnd().slice(-readCharactersMax)
  if (opened.test(end) || begunQuestion.test(end)) return false
  if (question.test(end)) return true
  const words = plain(end)
  if (words === '') return false
  const { unfinished, particles, complete } = phrasesOf(language)
  if (complete.end(words) || isSpelledOut(words)) return true
  if (unfinished.end(words) || (!closed.test(end) && particles.end(words))) return false
  return !isBegunRequest(words, language) && !isFiller(end, language) && !isWithinDictation(end, language)
}

/** Returns true for a single word that begins requests as often as it is an answer: "Please" in "Please try again". */
export function isOpening(text: string, language: string): boolean {
  return !closed.test(text) && phrasesOf(language).openings.countIn(plain(text), 1) === 1
}

/** Returns true for the beginning of a request with polite words after it: "could you please". */
function isBegunRequest(words: string, language: string): boolean {
  const { begunRequests, softeners } = phrasesOf(language)
  let rest = words
  for (let count = 0; count < softenersMax; count++) {
    const softener = softeners.longestAtEnd(rest)
    if (softener === null) return false
    rest = rest.slice(0, -softener.length).trimEnd()
    if (begunRequests.end(rest)) return true
  }
  return false
}

/** Returns true if a word such as "well" stands alone or after a comma. */
function isFiller(text: string, language: string): boolean {
  const words = plain(afterComma.exec(text)?.[0] ?? '')
  return words !== '' && phrasesOf(language).fillers.countIn(words, 1) === 1
}
