/**
 * How long the user must be silent until the turn is over. `text` reads the last words: an answer or a sentence that
 * has ended is quick, a sentence that goes on gets time.
 */
import { isOpening, looksFinished } from './turn-end.ts'
import { wordsOf } from './user-text.ts'

export type Endpointing = { minDelay: number; maxDelay: number }
export type TurnDetection = 'text' | 'vad' | 'stt'

/** Parts of the way from `minDelay` to `maxDelay`. */
const plainShare = 0.15
const commaShare = 0.6
/** An answer of up to this number of words is complete without punctuation. */
const answerWordsMax = 3

/**
 * From the end of speech, in ms. Words of a text that are spaced by other means than blanks count as one, so that
 * punctuation decides.
 */
export function silenceNeededMs(
  detection: TurnDetection,
  { minDelay, maxDelay }: Endpointing,
  { text, isSpeechFinal, language }: { text: string; isSpeechFinal: boolean; language: string },
): number {
  if (detection === 'vad') return minDelay
  if (detection === 'stt') return isSpeechFinal ? 0 : maxDelay
  const share = shareOf(text.trim(), language)
  return Math.round(minDelay + (maxDelay - minDelay) * share)
}

function shareOf(text: string, language: string): number {
  if (text === '') return 0
  if (!looksFinished(text, language)) return /[,，、،]\s*$/u.test(text) ? commaShare : 1
  const hasEnded = /[.!?。！？।؟]["'”’»)\]]*$/u.test(text)
  const isAnswer = wordsOf(text).length <= answerWordsMax && !isOpening(text, language)
  return hasEnded || isAnswer ? 0 : plainShare
}
