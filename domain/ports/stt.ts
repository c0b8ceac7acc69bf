import type { Recording } from '../../audio/format.ts'
import type { ProviderError } from './provider-error.ts'
import type { CancelSignal } from './system.ts'

export type SttOptions = {
  diarization?: boolean
  keywords?: readonly string[]
  noiseReduction?: boolean
  wordTimestamps?: boolean
  /** Segments with their times are wanted. A model that cannot give them answers one segment for the whole recording. */
  segmentTimes?: boolean
  prompt?: string
  /** These were checked against the model's allow-list. */
  providerOptions?: Readonly<Record<string, string | number | boolean>>
}

export type SttRequest = {
  model: string
  recording: Recording
  /** In the form that this provider takes. Absent: the provider detects it. */
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
  /** The duration that the provider bills, where it reports one. */
  billedMs?: number
}

/** The frames hold raw samples, never the header of a container. */
export type StreamAudio = { encoding: 'pcm_s16le' | 'mulaw' | 'alaw' | 'opus'; sampleRateHz: number; channels: number }

export type SttStreamRequest = {
  model: string
  audio: StreamAudio
  /** In the form that this provider takes. Absent: the provider detects it. */
  language?: string
  interimResults: boolean
  /** The silence that ends an utterance. Absent: the provider's default. */
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
  /** The text does not change any more. */
  isFinal: boolean
  /** The end point: this is the last final of the utterance. */
  speechFinal: boolean
  /** From the start of the stream's audio. */
  startMs: number
  endMs: number
  confidence?: number
  language?: string
  words?: readonly Word[]
}

/** Receives the events of one open stream. No event follows `ended` or `failed`, nor `close`. */
export interface SttStreamSink {
  speechStarted(startMs: number): void
  /** Interims come only where `interimResults` asks for them. Silence has no transcript. */
  transcript(transcript: StreamTranscript): void
  /** All audio before `end` was transcribed. `billedMs` is present where the provider reports it. */
  ended(billedMs?: number): void
  failed(error: ProviderError): void
}

/** One open stream. After `end` only `close` follows. */
export interface SttStream {
  /** Takes whole samples. The bytes are lent until it returns. */
  audio(bytes: Uint8Array): void
  /** Bytes that the adapter has taken and the provider has not. The code that sends audio bounds them. */
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
   * Absent: no model of this provider streams.
   */
  open?(request: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream>
}
