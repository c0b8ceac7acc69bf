/** POST /audio/transcriptions. */
import { ProviderError } from '../../domain/routing/provider-error.ts'
import type { Segment, Stt, SttRequest, Transcript, Word } from '../../domain/speech/stt.ts'
import { isObject, type JsonObject, protocolError } from '../wire/failures.ts'
import type { Wire } from '../wire/http.ts'
import { type Field, recordingForm } from '../wire/recording.ts'

export function createStt(wire: Wire): Stt {
  return {
    async transcribe(request, signal) {
      return readTranscript(
        await wire.call('/audio/transcriptions', recordingForm(fields(request), request.recording), signal),
        request,
      )
    },
  }
}

function fields({ model, language, options }: SttRequest): Field[] {
  const list: Field[] = [['model', model]]
  const base = language?.split('-')[0]
  if (base !== undefined) list.push(['language', base])
  if (options.prompt !== undefined) list.push(['prompt', options.prompt])
  list.push(['response_format', options.wordTimestamps ? 'verbose_json' : 'json'])
  if (options.wordTimestamps) {
    list.push(['timestamp_granularities[]', 'word'], ['timestamp_granularities[]', 'segment'])
  }
  return list
}

function readTranscript(body: JsonObject, request: SttRequest): Transcript {
  if (typeof body['text'] !== 'string') throw protocolError('no text')
  const text = body['text'].trim()
  const language = languageOf(body['language'], request.language)
  const billedMs = billed(body['usage'])
  return {
    text,
    segments: text === '' ? [] : segments(body['segments'], text, request.recording.durationMs),
    ...(request.options.wordTimestamps && { words: words(body['words'], text) }),
    ...(language !== undefined && { language }),
    ...(billedMs !== undefined && { billedMs }),
  }
}

/** Without segments of the server's own, one that spans the recording: less than could be said, but true. */
function segments(given: unknown, text: string, durationMs: number): Segment[] {
  const list = timed(given).map((row) => ({ text: stringOf(row['text']), ...times(row) }))
  return list.length > 0 ? list : [{ text, startMs: 0, endMs: durationMs }]
}

/** A server that ignores the wish for word times would be a silent drop, so it is `unsupported`. */
function words(given: unknown, text: string): Word[] {
  const list = timed(given).map((row) => ({ text: stringOf(row['word']), ...times(row) }))
  if (list.length === 0 && text !== '') throw new ProviderError('unsupported', { sent: true, cause: 'no word times' })
  return list
}

const rows = (given: unknown): JsonObject[] => (Array.isArray(given) ? given.filter(isObject) : [])
const timed = (given: unknown): JsonObject[] =>
  rows(given).filter(({ start, end }) => Number.isFinite(start) && Number.isFinite(end))
const times = (row: JsonObject) => ({ startMs: milliseconds(row['start']), endMs: milliseconds(row['end']) })
const milliseconds = (seconds: unknown) => Math.max(0, Math.round((seconds as number) * 1000))
const stringOf = (value: unknown) => (typeof value === 'string' ? value.trim() : '')

/** Whisper answers with an English name (`english`), which is no tag: then what was asked for stands. */
function languageOf(answered: unknown, asked: string | undefined): string | undefined {
  return typeof answered === 'string' && /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(answered) ? answered : asked
}

function billed(usage: unknown): number | undefined {
  if (!isObject(usage) || usage['type'] !== 'duration' || !Number.isFinite(usage['seconds'])) return undefined
  return milliseconds(usage['seconds'])
}
