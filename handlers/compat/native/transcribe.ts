import type { Recording } from '../../../audio/format.ts'
import type { DeclaredAudio } from '../../../audio/recognise.ts'
import type { Segment, Word } from '../../../domain/ports/stt.ts'
import type { Caller } from '../../../domain/records/organization.ts'
import type { TranscribeInput, Transcription } from '../../../domain/speech/transcribe.ts'
import type { CompatHandlers, TranscribeEvent } from '../../../generated/compat/handlers.ts'
import type {
  NativeMeta,
  NativeSegment,
  NativeTranscription,
  SttOptions,
  TranscriptEvent,
} from '../../../generated/compat/types.ts'
import type { Bytes } from '../../../runtime/engine/handler.ts'
import { located } from '../../faults/located-fault.ts'
import { readRecording, unreadError } from '../../recording.ts'
import { routingOf } from '../../routing.ts'
import {
  acceptsEvents,
  contextOf,
  ignoredHeader,
  inOrder,
  languageIn,
  languageOf,
  nativeHeaders,
  nativeMeta,
} from '../openai/context.ts'
import type { TranscriptionDeps } from '../openai/transcriptions.ts'

export function transcribe(deps: TranscriptionDeps & { streams: boolean }): CompatHandlers<Caller>['transcribe'] {
  return async ({ header, body }, context) => {
    const intent = header['x-service-intent'] ?? {}
    const constraints = header[constraintsHeader] ?? {}
    const { model, language, ...options } = header[optionsHeader] ?? {}
    // The languages are checked here, so that an error names the right header. The domain's operation does not know the
    // headers.
    if (intent.language !== undefined) languageIn('x-service-intent', intent.language)
    if (language !== undefined) languageIn(optionsHeader, language)
    const recording = await recordingOf(body, deps.durationMaxMs)
    const transcription = await deps
      .transcribe({
        ...contextOf(context),
        ...languageOf(header, language, intent.language),
        routing: routingOf(deps.catalog, 'stt', context.caller, {
          intent,
          constraints,
          ...(model !== undefined && { model }),
        }),
        recording,
        lenient: true,
        options: optionsOf(options),
      })
      .catch((error: unknown) => {
        // In this operation the constraints and the options are headers, so an error must name the header. In the API's
        // other operations they are fields in the body.
        const placed = located(located(error, 'none_allowed', constraintsHeader), 'capability_missing', optionsHeader)
        throw unreadError(placed, recording, 'body')
      })
    const headers = { ...nativeHeaders(transcription.route), ...ignoredHeader(transcription.ignored) }
    const meta = nativeMeta(transcription.route, context.requestId, deps.catalog)
    const answer = answerOf(transcription, recording, meta)
    if (!acceptsEvents(context, deps.streams)) return { status: 200, type: 'application/json', headers, body: answer }
    return { status: 200, type: 'text/event-stream', headers, body: inOrder(eventsOf(answer, meta)) }
  }
}

const constraintsHeader = 'x-service-constraints'
const optionsHeader = 'x-service-stt-options'

/** Reads the recording. A client declares raw samples by the content type, such as `audio/pcm;rate=16000`. */
function recordingOf(upload: Bytes, durationMaxMs: number): Promise<Recording> {
  return readRecording(upload, {
    declared: declaredBy(upload.contentType),
    durationMaxMs,
    param: 'body',
    hint: 'Send WAV, FLAC, Ogg/Opus, WebM/Opus or MP3, or raw 16-bit little-endian samples as Content-Type audio/pcm;rate=16000.',
  })
}

function declaredBy(contentType: string): DeclaredAudio | null {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';')
  if (type.trim() !== 'audio/pcm') return null
  const valueOf = (name: string) => {
    const parameter = parameters.map((each) => each.trim()).find((each) => each.startsWith(`${name}=`))
    return parameter === undefined ? NaN : Number(parameter.slice(name.length + 1))
  }
  const sampleRateHz = valueOf('rate')
  return Number.isInteger(sampleRateHz)
    ? { encoding: 'pcm_s16le', sampleRateHz, channels: valueOf('channels') || 1 }
    : null
}

function optionsOf({ words, diarization, keywords, prompt }: SttOptions): NonNullable<TranscribeInput['options']> {
  return {
    ...(words !== undefined && { wordTimestamps: words }),
    ...(diarization !== undefined && { diarization }),
    ...(keywords && { keywords }),
    ...(prompt && { prompt }),
  }
}

function answerOf({ transcript }: Transcription, recording: Recording, meta: NativeMeta): NativeTranscription {
  const { text, language, segments, words } = transcript
  return {
    ...meta,
    text,
    language: language ?? null,
    duration: recording.durationMs / 1000,
    confidence: words ? confidenceOf(words) : null,
    segments: segments.map(segmentOf),
    ...(words && { words: words.map(wordOf) }),
  }
}

/** Returns the mean over all words with a confidence. Null if no word has a confidence. */
function confidenceOf(words: readonly Pick<Word, 'confidence'>[]): number | null {
  const confidences = words.flatMap(({ confidence }) => (confidence === undefined ? [] : [confidence]))
  return confidences.length === 0 ? null : confidences.reduce((sum, each) => sum + each, 0) / confidences.length
}

function segmentOf({ text, startMs, endMs, speaker }: Segment): NativeSegment {
  return { text, start: Math.round(startMs) / 1000, end: Math.round(endMs) / 1000, ...(speaker && { speaker }) }
}

function wordOf({ confidence, ...word }: Word) {
  return { ...segmentOf(word), ...(confidence !== undefined && { confidence }) }
}

/** Makes the event stream. A whole recording has no interim transcripts, so each segment is sent once, as final. */
function* eventsOf(answer: NativeTranscription, meta: NativeMeta): Generator<TranscribeEvent, undefined> {
  yield { event: 'meta', data: meta }
  for (const data of transcriptsOf(answer)) yield { event: 'transcript', data }
  yield { event: 'done', data: answer }
}

/**
 * Writes the segments with the mean confidence of their words. A word belongs to the first segment that ends after the
 * word begins. Both lists are in time order, so each word is read once: four hours have 36,000 words.
 */
export function* transcriptsOf({
  segments = [],
  words = [],
}: Pick<NativeTranscription, 'segments' | 'words'>): Generator<TranscriptEvent> {
  let at = 0
  for (const segment of segments) {
    const from = at
    while ((words[at]?.start ?? Number.POSITIVE_INFINITY) < segment.end) at++
    const confidence = confidenceOf(words.slice(from, at))
    yield { ...segment, isFinal: true, ...(confidence !== null && { confidence }) }
  }
}
