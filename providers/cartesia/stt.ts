/** Transcribes recordings with POST /stt. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { SttRequest, Transcript, Word } from '../../domain/ports/stt.ts'
import { canonicalTag, vendorTag } from '../vendors/language-tags.ts'
import type { VendorHttp } from '../wire/http.ts'
import { type JsonObject, milliseconds, objectsOf, stringAt } from '../wire/json.ts'
import { type Field, recordingForm } from '../wire/recording.ts'
import { endsTurns } from './models.ts'

/** Returns the transcript. Rejects with ProviderError. */
export async function transcribe(http: VendorHttp, request: SttRequest, signal: AbortSignal): Promise<Transcript> {
  if (endsTurns(request.model)) throw new ProviderError('unsupported', { sent: false, cause: 'live audio only' })
  return readTranscript(await http.post('/stt', recordingForm(fields(request), request.recording), signal), request)
}

function fields({ model, language, options }: SttRequest): Field[] {
  const list: Field[] = [['model', model]]
  if (language !== undefined) list.push(['language', vendorTag('cartesia', language)])
  if (options.wordTimestamps) list.push(['timestamp_granularities[]', 'word'])
  return list
}

function readTranscript(body: JsonObject, { options, language, recording }: SttRequest): Transcript {
  const text = stringAt(body, 'text').trim()
  const words = wordsOf(body['words'])
  if (options.wordTimestamps && words.length === 0 && text !== '')
    throw new ProviderError('unsupported', { sent: true, cause: 'no word times' })
  const detected = canonicalTag(body['language']) ?? language
  const { duration } = body
  return {
    text,
    // The vendor sends no segments, so one segment covers the whole text and duration.
    segments:
      text === ''
        ? []
        : [{ text, startMs: words[0]?.startMs ?? 0, endMs: words.at(-1)?.endMs ?? recording.durationMs }],
    ...(options.wordTimestamps && { words }),
    ...(detected !== undefined && { language: detected }),
    ...(typeof duration === 'number' && duration >= 0 && { billedMs: milliseconds(duration) }),
  }
}

/** Reads the words. Each entry is one word or, on sockets, three parallel lists: words, starts and ends. */
export function wordsOf(given: unknown): Word[] {
  return objectsOf(given).flatMap((row) => {
    const { word, words, start, end } = row
    if (!Array.isArray(words)) return wordOf(word, start, end)
    return words.flatMap((text, i) => wordOf(text, itemOf(start, i), itemOf(end, i)))
  })
}

const itemOf = (list: unknown, i: number): unknown => (Array.isArray(list) ? list[i] : undefined)

function wordOf(text: unknown, start: unknown, end: unknown): Word[] {
  if (typeof text !== 'string' || typeof start !== 'number' || typeof end !== 'number') return []
  const startMs = milliseconds(start)
  return [{ text: text.trim(), startMs, endMs: Math.max(startMs, milliseconds(end)) }]
}
