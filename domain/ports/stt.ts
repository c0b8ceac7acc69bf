import type { Recording } from '../../audio/format.ts'
import type { ProviderError } from './provider-error.ts'
import type { CancelSignal } from './system.ts'

export type SttOptions = {
  diarization?: boolean
  keywords?: readonly string[]
  noiseReduction?: boolean
  wordTimestamps?: boolean
  /**
   * Asks for segments with times. If the model has no such segments, it answers one segment for the whole recording.
   */
  segmentTimes?: boolean
  prompt?: string
  /** Already checked against the model's allow-list. */
  providerOptions?: Readonly<Record<string, string | number | boolean>>
}

export type SttRequest = {
  model: string
  recording: Recording
  /** In this provider's form. If absent, the provider detects it. */
  language?: string
  options: SttOptions
}

export type Segment = { text: string; startMs: number; endMs: number; speaker?: string }
export type Word = { text: string; startMs: number; endMs: number; speaker?: string; confidence?: number }

/** Silence is a success: an empty text and no segments. */
export type Transcript = {
  text: string
  segments: Segment[]
  words?: Word[]
  language?: string
  /** The billed duration, if the provider reports one. */
  billedMs?: number
}

/** Frames hold raw samples, never a container header. */
export type StreamAudio = { encoding: 'pcm_s16le' | 'mulaw' | 'alaw' | 'opus'; sampleRateHz: number; channels: number }

export type SttStreamRequest = {
  model: string
  audio: StreamAudio
  /** In this provider's form. If absent, the provider detects it. */
  language?: string
  interimResults: boolean
  /** Silence this long ends an utterance. If absent, the provider's default applies. */
  endpointingMs?: number
  words: boolean
  keywords?: readonly string[]
  prompt?: string
}

/** The text of one utterance so far. */
export type StreamTranscript = {
  /** Counts utterances from 0. The interims and the finals of one utterance share it. */
  utterance: number
  text: string
  /** True if the text will not change any more. */
  isFinal: boolean
  /** The end point: this is the utterance's last final. */
  speechFinal: boolean
  /** From the start of the stream's audio. */
  startMs: number
  endMs: number
  confidence?: number
  language?: string
  words?: readonly Word[]
}

/** Receives one open stream's events. No event follows `ended` or `failed`, nor `close`. */
export interface SttStreamSink {
  speechStarted(startMs: number): void
  /** Interims come only if `interimResults` is set. Silence has no transcript. */
  transcript(transcript: StreamTranscript): void
  /** All audio before `end` was transcribed. `billedMs` is present if the provider reports it. */
  ended(billedMs?: number): void
  failed(error: ProviderError): void
}

/** One open stream. After `end` only `close` follows. */
export interface SttStream {
  /** Takes whole samples. The bytes are lent until it returns. */
  audio(bytes: Uint8Array): void
  /** Unsent bytes in the adapter. The calling code limits them. */
  readonly bufferedBytes: number
  /** Ends the utterance now: its text becomes final. */
  flush(): void
  /** No more audio follows. */
  end(): void
  /** Gives up at once. May be called again. */
  close(): void
}

export interface Stt {
  /** Rejects with ProviderError. `signal` ends the request, and no work continues after it. */
  transcribe(request: SttRequest, signal: AbortSignal): Promise<Transcript>
  /**
   * Resolves when the provider takes audio; rejects with ProviderError. `signal` ends the opening and the stream.
   * Absent if the provider has no streaming model.
   */
  open?(request: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream>
}
