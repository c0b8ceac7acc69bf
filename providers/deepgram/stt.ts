/** Transcribes recordings with POST /v1/listen. The recording is the body, all other fields are in the query. */
import type { Recording } from '../../audio/format.ts'
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Segment, Stt, SttRequest, Transcript, Word } from '../../domain/ports/stt.ts'
import { canonicalTag, vendorTag } from '../vendors/language-tags.ts'
import type { VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject, milliseconds, objectsOf, timedObjectsOf, timesOf, trimmed } from '../wire/json.ts'
import { recordingFile } from '../wire/recording.ts'
import { isEnglish, isFlux, takesKeyterms } from './models.ts'
import { bestOf, firstLanguage, speakerOf, wordsOf } from './transcript.ts'

export function createTranscribe(http: VendorHttp): Stt['transcribe'] {
  return async (request, signal) => {
    if (isFlux(request.model)) throw new ProviderError('unsupported', { sent: false, cause: 'live audio only' })
    const { type, chunks } = recordingFile(request.recording)
    const answer = await http.post(`/v1/listen?${query(request)}`, { contentType: type, body: chunks }, signal)
    return readTranscript(answer, request)
  }
}

function query({ model, language, options }: SttRequest): string {
  const list = new URLSearchParams({ model, punctuate: 'true', utterances: 'true' })
  if (language !== undefined) list.set('language', vendorTag('deepgram', language))
  // If the request has no language and no language detection, the vendor expects English.
  else if (!isEnglish(model)) list.set('detect_language', 'true')
  if (options.diarization) list.set('diarize_model', 'latest')
  for (const keyword of options.keywords ?? []) list.append(takesKeyterms(model) ? 'keyterm' : 'keywords', keyword)
  for (const [name, value] of Object.entries(options.providerOptions ?? {})) list.set(name, String(value))
  return list.toString()
}

function readTranscript(body: JsonObject, request: SttRequest): Transcript {
  const results = isObject(body['results']) ? body['results'] : {}
  const channel = objectsOf(results['channels'])[0]
  const { text, best } = bestOf(channel)
  const language = canonicalTag(channel?.['detected_language']) ?? firstLanguage(best['languages']) ?? request.language
  return {
    text,
    segments: text === '' ? [] : segments(results['utterances'], text, request.recording),
    ...(request.options.wordTimestamps && { words: words(best['words'], text) }),
    ...(language !== undefined && { language }),
    ...billed(body['metadata']),
  }
}

/** Reads the segments. If the vendor sends no utterances, one segment covers the whole recording. */
function segments(utterances: unknown, text: string, { durationMs }: Recording): Segment[] {
  const list = timedObjectsOf(utterances).map((row) => ({
    text: trimmed(row['transcript']),
    ...timesOf(row),
    ...speakerOf(row),
  }))
  return list.length > 0 ? list : [{ text, startMs: 0, endMs: durationMs }]
}

function words(given: unknown, text: string): Word[] {
  const list = wordsOf(given)
  if (list.length === 0 && text !== '') throw new ProviderError('unsupported', { sent: true, cause: 'no word times' })
  return list
}

/** Returns the billed duration: the vendor's measured duration, which may differ from the file's header. */
function billed(metadata: unknown): { billedMs: number } | undefined {
  if (!isObject(metadata) || !Number.isFinite(metadata['duration'])) return undefined
  return { billedMs: milliseconds(metadata['duration']) }
}
