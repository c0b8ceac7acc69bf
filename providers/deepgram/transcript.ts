/** What recordings and live audio are told in alike: words, times in seconds, the best of the alternatives. */
import type { Word } from '../../domain/speech/stt.ts'
import { canonicalTag } from '../language-tags.ts'
import { isObject, type JsonObject, protocolError } from '../wire/failures.ts'

export const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')
export const milliseconds = (seconds: unknown): number => Math.max(0, Math.round((seconds as number) * 1000))
export const hasTimes = ({ start, end }: JsonObject): boolean => Number.isFinite(start) && Number.isFinite(end)
export const times = ({ start, end }: JsonObject) => ({ startMs: milliseconds(start), endMs: milliseconds(end) })

/** Throws ProviderError `protocol` where no transcript is: silence has an empty one. */
export function bestOf(channel: unknown): { text: string; best: JsonObject } {
  const best = isObject(channel) ? listOf(channel['alternatives'])[0] : undefined
  if (typeof best?.['transcript'] !== 'string') throw protocolError('no transcript')
  return { text: best['transcript'].trim(), best }
}

export function wordsOf(given: unknown): Word[] {
  return listOf(given)
    .filter(hasTimes)
    .map((row) => ({
      text: stringOf(row['punctuated_word']) || stringOf(row['word']),
      ...times(row),
      ...speakerOf(row),
      ...(Number.isFinite(row['confidence']) && { confidence: row['confidence'] as number }),
    }))
}

export const speakerOf = ({ speaker }: JsonObject) => (Number.isInteger(speaker) ? { speaker: String(speaker) } : {})

/** The one that prevails. */
export function firstLanguage(languages: unknown): string | undefined {
  return canonicalTag(Array.isArray(languages) ? languages[0] : undefined)
}
