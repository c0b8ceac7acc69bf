/** Transcribes recordings with POST /audio/transcriptions. */
import { ProviderError } from '../../domain/ports/provider-error.ts'
import type { Segment, Stt, SttRequest, Transcript, Word } from '../../domain/ports/stt.ts'
import type { VendorHttp } from '../wire/http.ts'
import { isObject, type JsonObject, milliseconds, stringAt, timedObjectsOf, timesOf, trimmed } from '../wire/json.ts'
import { type Field, recordingForm } from '../wire/recording.ts'
import { givesTimes } from './models.ts'

/**
 * The code for one server's protocol variant: it makes the request fields and reads the response. Both functions may
 * throw ProviderError.
 */
export type Transcriptions = {
  fields: (request: SttRequest) => Field[]
  read: (body: JsonObject, request: SttRequest) => Transcript
}

export function createStt(http: VendorHttp, { fields, read }: Transcriptions): Stt {
  return {
    async transcribe(request, signal) {
      const form = recordingForm(fields(request), request.recording)
      return read(await http.post('/audio/transcriptions', form, signal), request)
    },
  }
}

export const openAiTranscriptions: Transcriptions = { fields, read: readTranscript }

/** Returns the segments. If the server sent no segments, one segment covers the whole recording. */
export function segmentsOr(list: Segment[], text: string, { recording }: SttRequest): Segment[] {
  if (text === '') return []
  return list.length > 0 ? list : [{ text, startMs: 0, endMs: recording.durationMs }]
}

/**
 * Returns the words. If the server ignored the request for word times, throws ProviderError `unsupported`, because the
 * client must not miss them unnoticed.
 */
export function wordsOr(list: Word[], text: string): Word[] {
  if (list.length === 0 && text !== '') throw new ProviderError('unsupported', { sent: true, cause: 'no word times' })
  return list
}

function fields({ model, language, options }: SttRequest): Field[] {
  const list: Field[] = [['model', model]]
  const base = language?.split('-')[0]
  if (base !== undefined) list.push(['language', base])
  if (options.prompt !== undefined) list.push(['prompt', options.prompt])
  const asksTimes = options.wordTimestamps || (options.segmentTimes && givesTimes(model))
  list.push(['response_format', asksTimes ? 'verbose_json' : 'json'])
  if (options.wordTimestamps) {
    list.push(['timestamp_granularities[]', 'word'], ['timestamp_granularities[]', 'segment'])
  }
  return list
}

function readTranscript(body: JsonObject, request: SttRequest): Transcript {
  const text = stringAt(body, 'text').trim()
  const language = languageOf(body['language'], request.language)
  const billedMs = billed(body['usage'])
  const segments = timedObjectsOf(body['segments']).map((row) => ({ text: trimmed(row['text']), ...timesOf(row) }))
  const words = timedObjectsOf(body['words']).map((row) => ({ text: trimmed(row['word']), ...timesOf(row) }))
  return {
    text,
    segments: segmentsOr(segments, text, request),
    ...(request.options.wordTimestamps && { words: wordsOr(words, text) }),
    ...(language !== undefined && { language }),
    ...(billedMs !== undefined && { billedMs }),
  }
}

/**
 * Returns the language tag. Whisper may answer with an English name (`english`) instead of a tag; then the requested
 * language is returned.
 */
function languageOf(answered: unknown, requested: string | undefined): string | undefined {
  return typeof answered === 'string' && /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(answered) ? answered : requested
}

function billed(usage: unknown): number | undefined {
  if (!isObject(usage) || usage['type'] !== 'duration' || !Number.isFinite(usage['seconds'])) return undefined
  return milliseconds(usage['seconds'])
}
