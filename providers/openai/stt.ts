/** POST /audio/transcriptions. */
import { randomUUID } from 'node:crypto'
import type { Recording } from '../../audio/format.ts'
import { isSampleEncoding } from '../../audio/pcm.ts'
import { wavHeader } from '../../audio/wav.ts'
import { ProviderError } from '../../domain/routing/provider-error.ts'
import type { Segment, Stt, SttRequest, Transcript, Word } from '../../domain/speech/stt.ts'
import { isObject, type JsonObject, type Payload, protocolError, type Wire } from './wire.ts'

export function createStt(wire: Wire): Stt {
  return {
    async transcribe(request, signal) {
      return readTranscript(await wire.call('/audio/transcriptions', form(request), signal), request)
    },
  }
}

/** multipart/form-data as a list of chunks: the recording's own are sent as they are. The model stands before the file, since gateways choose by it while the file still arrives. */
function form({ model, recording, language, options }: SttRequest): Payload {
  // Random, so that no recording can hold it.
  const boundary = `parley-${randomUUID()}`
  const fields: [name: string, value: string][] = [['model', model]]
  const base = language?.split('-')[0]
  if (base !== undefined) fields.push(['language', base])
  if (options.prompt !== undefined) fields.push(['prompt', options.prompt])
  fields.push(['response_format', options.wordTimestamps ? 'verbose_json' : 'json'])
  if (options.wordTimestamps) {
    fields.push(['timestamp_granularities[]', 'word'], ['timestamp_granularities[]', 'segment'])
  }
  const { name, type, chunks } = file(recording)
  const head = fields.map(([field, value]) => part(boundary, `name="${field}"`) + `\r\n${value}\r\n`).join('')
  const fileHead = `${part(boundary, `name="file"; filename="${name}"`)}Content-Type: ${type}\r\n\r\n`
  const body = [Buffer.from(head + fileHead), ...chunks, Buffer.from(`\r\n--${boundary}--\r\n`)]
  return { contentType: `multipart/form-data; boundary=${boundary}`, body }
}

const part = (boundary: string, disposition: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`

/** Servers go by the file's name, so it says what the bytes are. */
const files = {
  wav: { name: 'audio.wav', type: 'audio/wav' },
  flac: { name: 'audio.flac', type: 'audio/flac' },
  ogg: { name: 'audio.ogg', type: 'audio/ogg' },
  mp3: { name: 'audio.mp3', type: 'audio/mpeg' },
} as const

function file(recording: Recording): { name: string; type: string; chunks: readonly Uint8Array[] } {
  const { container, encoding, sampleRateHz, channels } = recording.format
  if (container !== 'raw') return { ...files[container], chunks: recording.chunks }
  if (!isSampleEncoding(encoding)) throw new ProviderError('unsupported', { sent: false, cause: `raw ${encoding}` })
  const header = wavHeader({ encoding, sampleRateHz, channels }, recording.dataBytes)
  return { ...files.wav, chunks: [header, ...samples(recording)] }
}

/** The chunks from `dataOffset` on, `dataBytes` of them. */
function samples({ chunks, dataOffset, dataBytes }: Recording): Uint8Array[] {
  const list: Uint8Array[] = []
  let skip = dataOffset
  let left = dataBytes
  for (const chunk of chunks) {
    const taken = chunk.subarray(Math.min(skip, chunk.length), Math.min(skip, chunk.length) + left)
    skip -= Math.min(skip, chunk.length)
    left -= taken.length
    if (taken.length > 0) list.push(taken)
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
