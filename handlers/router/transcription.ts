import type { Recording } from '../../audio/format.ts'
import type { Segment, Word } from '../../domain/ports/stt.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { TranscribeInput, Transcription } from '../../domain/speech/transcribe.ts'
import type { RouterHandlers } from '../../generated/router/handlers.ts'
import type {
  RawAudioFormat,
  TranscriptionOptions,
  TranscriptionResponse,
  Segment as WireSegment,
  Word as WireWord,
} from '../../generated/router/types.ts'
import type { Bytes } from '../../runtime/engine/handler.ts'
import { readRecording, unreadError } from '../recording.ts'
import { routeHeaders, wireRoute } from '../views/route.ts'
import { contextOf } from './context.ts'
import { routingOf } from './routing.ts'

export type TranscriptionDeps = {
  transcribe(order: TranscribeInput): Promise<Transcription>
  region: string
  /** The longest accepted recording. */
  durationMaxMs: number
}

export function createTranscription(deps: TranscriptionDeps): RouterHandlers<Caller>['createTranscription'] {
  return async ({ header, body }, context) => {
    const { routing, language, options, audio } = body.request
    const recording = await recordingOf(body.audio, audio, deps.durationMaxMs)
    const transcription = await deps
      .transcribe({
        ...contextOf(header, context),
        routing: routingOf(routing, context.caller),
        recording,
        ...(language && { language }),
        ...(options && { options: optionsOf(options) }),
      })
      .catch((error: unknown) => {
        throw unreadError(error, recording, 'audio')
      })
    return {
      status: 200,
      headers: routeHeaders(transcription.route),
      body: responseOf(transcription, deps.region, options),
    }
  }
}

function recordingOf(upload: Bytes, declared: RawAudioFormat | undefined, durationMaxMs: number): Promise<Recording> {
  return readRecording(upload, {
    declared: declared
      ? { encoding: declared.encoding, sampleRateHz: declared.sample_rate_hz, channels: declared.channels }
      : null,
    durationMaxMs,
    param: 'audio',
    hint: 'Send WAV, FLAC, Ogg/Opus, WebM/Opus or MP3, or raw samples with `audio` saying what they are.',
  })
}

function optionsOf(wire: TranscriptionOptions): NonNullable<TranscribeInput['options']> {
  return {
    ...(wire.diarization !== undefined && { diarization: wire.diarization }),
    ...(wire.keywords && { keywords: wire.keywords }),
    ...(wire.noise_reduction !== undefined && { noiseReduction: wire.noise_reduction }),
    ...(wire.word_timestamps !== undefined && { wordTimestamps: wire.word_timestamps }),
    ...(wire.prompt !== undefined && { prompt: wire.prompt }),
    ...(wire.provider_options && { providerOptions: wire.provider_options }),
  }
}

function responseOf(
  { transcript, route, usage }: Transcription,
  region: string,
  options: TranscriptionOptions | undefined,
): TranscriptionResponse {
  return {
    text: transcript.text,
    segments: transcript.segments.map(segmentOf),
    ...(options?.word_timestamps && { words: (transcript.words ?? []).map(wordOf) }),
    ...(transcript.language && { language: transcript.language }),
    route: wireRoute(route, region),
    usage: { duration_ms: usage.durationMs, cost_micro_usd: usage.costMicroUsd },
  }
}

function segmentOf({ text, startMs, endMs, speaker }: Segment): WireSegment {
  return { text, start_ms: Math.round(startMs), end_ms: Math.round(endMs), ...(speaker && { speaker }) }
}

function wordOf({ confidence, ...word }: Word): WireWord {
  return { ...segmentOf(word), ...(confidence !== undefined && { confidence }) }
}
