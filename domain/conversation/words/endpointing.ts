/**
 * Calculates how long the user must be silent before the turn is over. The method `text` uses the last words: after an
 * answer or a complete sentence the silence is short, and after an incomplete sentence it is long.
 */
import { isOpening, looksFinished } from './turn-end.ts'
import { wordsOf } from './user-text.ts'

export type Endpointing = { minDelay: number; maxDelay: number }
export type TurnDetection = 'text' | 'vad' | 'stt'

/**
 * The fraction of the range from `minDelay` to `maxDelay` that is added to `minDelay`: without punctuation, and after a
 * comma.
 */
const plainShare = 0.15
const commaShare = 0.6
/** An answer with up to this many words counts as complete without punctuation. */
const answerWordsMax = 3

/** Returns the silence in ms. If a text has no blanks between words, it counts as one word, so punctuation decides. */
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
