import type { Recording } from '../../audio/format.ts'
import type { ProviderError } from '../ports/provider-error.ts'
import type { CancelSignal } from '../ports/system.ts'

export type SttOptions = {
  diarization?: boolean
  keywords?: readonly string[]
  noiseReduction?: boolean
  wordTimestamps?: boolean
  prompt?: string
  /** Already checked against the model's allow-list. */
  providerOptions?: Readonly<Record<string, string | number | boolean>>
}

export type SttRequest = {
  model: string
  recording: Recording
  /** In the form that this provider takes. Absent: the provider detects. */
  language?: string
  options: SttOptions
}

export type Segment = { text: string; startMs: number; endMs: number; speaker?: string }
export type Word = { text: string; startMs: number; endMs: number; speaker?: string; confidence?: number }

/** Silence is an empty text with no segments, and is a success. */
export type Transcript = {
  text: string
  segments: Segment[]
  words?: Word[]
  language?: string
  /** What the provider bills, where it says so. */
  billedMs?: number
}

/** Raw samples as they come in frames; a container's header never does. */
export type StreamAudio = { encoding: 'pcm_s16le' | 'mulaw' | 'alaw' | 'opus'; sampleRateHz: number; channels: number }

export type SttStreamRequest = {
  model: string
  audio: StreamAudio
  /** In the form that this provider takes. Absent: the provider detects. */
  language?: string
  interimResults: boolean
  /** Silence that ends an utterance; absent: the provider's own. */
  endpointingMs?: number
  words: boolean
  keywords?: readonly string[]
  prompt?: string
}

/** What was heard of one utterance so far. */
export type StreamTranscript = {
  /** Counts utterances from 0: partials and the final of one share it. */
  utterance: number
  text: string
  /** The text will not change any more. */
  isFinal: boolean
  /** The speaker has stopped: the last final of the utterance. */
  speechFinal: boolean
  /** From the start of the stream's audio. */
  startMs: number
  endMs: number
  confidence?: number
  language?: string
  words?: readonly Word[]
}

/** What a provider tells while it listens. Nothing comes after `ended` or `failed`, nor after the stream was closed. */
export interface SttStreamSink {
  speechStarted(startMs: number): void
  /** Partials only where `interimResults` asks for them. Silence makes none. */
  transcript(transcript: StreamTranscript): void
  /** Everything that came before `end` has been transcribed. `billedMs` where the provider says so. */
  ended(billedMs?: number): void
  failed(error: ProviderError): void
}

/** One open stream. Calls are in order; after `end` only `close` follows. */
export interface SttStream {
  /** Whole samples. The bytes are lent until it returns. */
  audio(bytes: Uint8Array): void
  /** Bytes that were taken here and not yet by the provider. The caller bounds them. */
  readonly bufferedBytes: number
  /** Ends the utterance now: what was said so far becomes final. */
  flush(): void
  /** No more audio will come. */
  end(): void
  /** Gives up at once. Idempotent. */
  close(): void
}

export interface Stt {
  /** Rejects with ProviderError. `signal` ends the call: nothing goes on behind the caller's back. */
  transcribe(request: SttRequest, signal: AbortSignal): Promise<Transcript>
  /** Absent: no model of this provider streams. Resolves when the provider listens; rejects with ProviderError. `signal` ends the opening and the stream. */
  open?(request: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream>
}
