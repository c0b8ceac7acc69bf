import type { Catalog } from '../../../domain/catalog/catalog.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { TranscribeInput, Transcription } from '../../../domain/speech/transcribe.ts'
import type {
  CompatHandlers,
  CreateCompatTranscriptionEvent,
  CreateCompatTranscriptionRequest,
} from '../../../generated/compat/handlers.ts'
import type { CompatTranscription } from '../../../generated/compat/types.ts'
import { Refusal } from '../../../runtime/engine/handler.ts'
import { located } from '../../faults/located-fault.ts'
import { readRecording, unreadError } from '../../recording.ts'
import { routingOf } from '../../routing.ts'
import { routeHeaders } from '../../views/route.ts'
import { contextOf, ignoredHeader, inOrder, languageOf } from './context.ts'
import { cuesOf, srtOf, vttOf } from './subtitles.ts'

export type TranscriptionDeps = {
  transcribe(order: TranscribeInput): Promise<Transcription>
  catalog: Catalog
  /** The longest accepted recording. */
  durationMaxMs: number
}

export function createCompatTranscription(
  deps: TranscriptionDeps,
): CompatHandlers<Caller>['createCompatTranscription'] {
  return async ({ header, body }, context) => {
    const { model, language, stream } = body
    const format = formatOf(body.response_format)
    const granularities = body['timestamp_granularities[]']
    const isOfWords = granularities?.includes('word') === true && !granularities.includes('segment')
    const recording = await readRecording(body.file, {
      declared: null,
      durationMaxMs: deps.durationMaxMs,
      param: 'file',
      hint: 'Send WAV, FLAC, Ogg/Opus, WebM/Opus or MP3.',
    })
    const transcription = await deps
      .transcribe({
        ...contextOf(context),
        ...languageOf(header, language),
        routing: routingOf(deps.catalog, 'stt', context.caller, { model }),
        recording,
        lenient: true,
        options: optionsOf(body),
      })
      .catch((error: unknown) => {
        // Word timings are the only capability that this operation can require. So if a capability is missing, the
        // error names this field.
        throw unreadError(located(error, 'capability_missing', 'timestamp_granularities[]'), recording, 'file')
      })
    const headers = { ...routeHeaders(transcription.route), ...ignoredHeader(transcription.ignored) }
    const { text } = transcription.transcript
    const durationS = recording.durationMs / 1000
    if (stream === 'true')
      return { status: 200, type: 'text/event-stream', headers, body: eventsOf(transcription, durationS) }
    const plain = { status: 200, type: 'text/plain', headers } as const
    if (format === 'text') return { ...plain, body: text }
    if (format === 'srt')
      return { ...plain, body: srtOf(cuesOf(transcription.transcript, recording.durationMs, isOfWords)) }
    if (format === 'vtt')
      return { ...plain, body: vttOf(cuesOf(transcription.transcript, recording.durationMs, isOfWords)) }
    const answer = format === 'json' ? { text } : verbose(transcription, durationS)
    return { status: 200, type: 'application/json', headers, body: answer }
  }
}

type Format = 'json' | 'text' | 'verbose_json' | 'srt' | 'vtt'

const formats: readonly string[] = ['json', 'text', 'verbose_json', 'srt', 'vtt'] satisfies Format[]

/** Reads the format. Throws the refusal invalid_parameter if it is unknown. */
function formatOf(responseFormat = 'json'): Format {
  if (formats.includes(responseFormat)) return responseFormat as Format
  const hint = `Send one of ${formats.join(', ')}.`
  const message = `A transcript does not come in this response_format. ${hint}`
  throw new Refusal('invalid_parameter', { param: 'response_format', message, hint })
}

function optionsOf(body: CreateCompatTranscriptionRequest['body']): NonNullable<TranscribeInput['options']> {
  const { prompt, response_format: format } = body
  const hasTimes = format === 'verbose_json' || format === 'srt' || format === 'vtt'
  const asksWords = hasTimes && body['timestamp_granularities[]']?.includes('word')
  return {
    ...(prompt && { prompt }),
    ...(hasTimes && { segmentTimes: true }),
    ...(asksWords && { wordTimestamps: true }),
  }
}

function verbose({ transcript }: Transcription, durationS: number): CompatTranscription {
  const { text, language, segments, words } = transcript
  return {
    task: 'transcribe',
    text,
    ...(language && { language }),
    duration: durationS,
    segments: segments.map((segment, id) => ({ id, ...seconds(segment), text: segment.text })),
    ...(words && { words: words.map((word) => ({ word: word.text, ...seconds(word) })) }),
    usage: { type: 'duration', seconds: durationS },
  }
}

function seconds({ startMs, endMs }: { startMs: number; endMs: number }) {
  return { start: Math.round(startMs) / 1000, end: Math.round(endMs) / 1000 }
}

/**
 * Makes the event stream. It has one delta for each segment if the segments joined equal the text. Otherwise it has one
 * delta with the whole text.
 */
function eventsOf(
  { transcript: { text, segments } }: Transcription,
  durationS: number,
): AsyncIterable<CreateCompatTranscriptionEvent> {
  const pieces = segments.map((segment, index) => (index === 0 ? segment.text : ` ${segment.text}`))
  const deltas = pieces.join('') === text ? pieces : [text]
  return inOrder<CreateCompatTranscriptionEvent>([
    ...deltas.filter((delta) => delta !== '').map(deltaOf),
    { data: { type: 'transcript.text.done', text, usage: { type: 'duration', seconds: durationS } } },
  ])
}

function deltaOf(delta: string): CreateCompatTranscriptionEvent {
  return { data: { type: 'transcript.text.delta', delta } }
}
