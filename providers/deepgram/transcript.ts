/**
 * Reads the common parts in transcripts from recordings and live audio: words, times in seconds, the best alternative.
 */
import type { Word } from '../../domain/ports/stt.ts'
import { canonicalTag } from '../vendors/language-tags.ts'
import { protocolError } from '../wire/failures.ts'
import { isObject, type JsonObject, objectsOf, timedObjectsOf, timesOf, trimmed } from '../wire/json.ts'

/**
 * Returns the best alternative. Throws ProviderError `protocol` if there is no transcript, because even silence has an
 * empty transcript.
 */
export function bestOf(channel: unknown): { text: string; best: JsonObject } {
  const best = isObject(channel) ? objectsOf(channel['alternatives'])[0] : undefined
  if (typeof best?.['transcript'] !== 'string') throw protocolError('no transcript')
  return { text: best['transcript'].trim(), best }
}

export function wordsOf(given: unknown): Word[] {
  return timedObjectsOf(given).map((row) => ({
    text: trimmed(row['punctuated_word']) || trimmed(row['word']),
    ...timesOf(row),
    ...speakerOf(row),
    ...(Number.isFinite(row['confidence']) && { confidence: row['confidence'] as number }),
  }))
}

export const speakerOf = ({ speaker }: JsonObject) => (Number.isInteger(speaker) ? { speaker: String(speaker) } : {})

/** Returns the speech's main language. The vendor lists this language first. */
export function firstLanguage(languages: unknown): string | undefined {
  return canonicalTag(Array.isArray(languages) ? languages[0] : undefined)
}
