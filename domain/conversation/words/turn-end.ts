/** Decides from a transcript's words whether the speaker is likely to continue. */
import { isWithinDictation } from './dictation.ts'
import type { TurnWords } from './languages/language-words.ts'
import { perLanguage } from './languages/languages.ts'
import { Phrases, plain } from './phrases.ts'
import { isSpelledOut } from './spelling.ts'

/** Only the transcript's end is read, so a long transcript costs no more time. */
const readCharactersMax = 200
const opened = /(?:[,;:–—-]|\.\.\.|…|、|，|；|：)\s*$/u
const closed = /[.!。！]\s*$/u
const question = /[?？]\s*$/u
/** A Spanish question has begun, and its closing question mark is missing. */
const begunQuestion = /¿[^?.!]*$/u
/** Matches the words after the last comma, or a text without a comma. */
const afterComma = /[^,，、.!?;:…–—]*[.!。！]?\s*$/u

/** A subject has at most this many words after its article. */
const subjectWordsMax = 3

const lastSentence = /[^.!?…。！？]*[.!。！]?\s*$/u

const phrasesOf = perLanguage(({ turns, dictation }) => ({
  unfinished: new Phrases(turns.unfinished, turns.hesitations ?? '', turns.begunRequests ?? ''),
  hesitations: new Phrases(turns.hesitations ?? ''),
  winsTime: turns.winsTime ?? null,
  begunRequests: new Phrases(turns.begunRequests ?? '', withoutSofteners(turns)),
  softeners: new Phrases(turns.softeners ?? ''),
  onlySubject: turns.determiners
    ? new RegExp(
        `^(?:\\p{L}+ ){0,2}(?:${turns.determiners})(?: (?!(?:${dictation.is}) )\\p{L}+){1,${subjectWordsMax}} (?:${dictation.is})$`,
        'u',
      )
    : null,
  particles: new Phrases(turns.particles ?? ''),
  openings: new Phrases(turns.openings ?? ''),
  fillers: new Phrases(turns.fillers ?? ''),
  complete: new Phrases(turns.complete ?? ''),
}))

/**
 * Returns false if the text ends in an open clause, a hesitation, a begun request or a dictation, because the speaker
 * is then likely to continue after a pause.
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
  return !goesOn(end, words, language)
}

function goesOn(end: string, words: string, language: string): boolean {
  const sentence = plain(lastSentence.exec(end)?.[0] ?? '')
  return (
    isBegunRequest(words, language) ||
    isHesitation(sentence, language) ||
    isOnlySubject(sentence, language) ||
    isFiller(end, language) ||
    isWithinDictation(end, language)
  )
}

/** Returns the requests as they are without polite words: "können sie sagen" for "können sie mir sagen". */
function withoutSofteners({ begunRequests = '', softeners = '' }: TurnWords): string {
  const polite = new Phrases(softeners)
  return begunRequests
    .split('|')
    .map((request) => polite.takenOutOf(plain(request)))
    .filter((request) => request.includes(' '))
    .join('|')
}

/** Returns true for a single word that begins requests as often as it is an answer: "Please" in "Please try again". */
export function isOpening(text: string, language: string): boolean {
  return !closed.test(text) && phrasesOf(language).openings.countIn(plain(text), 1) === 1
}

/** Returns true for the beginning of a request with other words in it or after it: "could you please maybe". */
function isBegunRequest(words: string, language: string): boolean {
  const { begunRequests, softeners, complete } = phrasesOf(language)
  const rest = softeners.takenOutOf(words)
  return rest !== words && begunRequests.end(rest) && !complete.end(rest)
}

/** Returns true for sounds such as "ummm", and for sentences with which the caller plays for time. */
function isHesitation(sentence: string, language: string): boolean {
  const { hesitations, winsTime } = phrasesOf(language)
  const lastWord = sentence.slice(sentence.lastIndexOf(' ') + 1)
  const isDrawnOut = /(\p{L})\1{2,}/u.test(lastWord)
  if (isDrawnOut && hesitations.end(lastWord.replaceAll(/(\p{L})\1+/gu, '$1'))) return true
  return winsTime?.test(sentence) === true
}

/** Returns true for a subject with its verb: "my extension is". */
function isOnlySubject(sentence: string, language: string): boolean {
  return phrasesOf(language).onlySubject?.test(sentence) === true
}

/** Returns true if a word such as "well" stands alone or after a comma. */
function isFiller(text: string, language: string): boolean {
  const words = plain(afterComma.exec(text)?.[0] ?? '')
  return words !== '' && phrasesOf(language).fillers.countIn(words, 1) === 1
}
