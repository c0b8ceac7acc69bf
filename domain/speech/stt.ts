import type { Recording } from '../../audio/format.ts'
import type { CancelSignal } from '../ports/system.ts'
import type { SttStream, SttStreamRequest, SttStreamSink } from './stt-stream.ts'

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

export interface Stt {
  /** Rejects with ProviderError. `signal` ends the call: nothing goes on behind the caller's back. */
  transcribe(request: SttRequest, signal: AbortSignal): Promise<Transcript>
  /** Absent: no model of this provider streams. Resolves when the provider listens; rejects with ProviderError. `signal` ends the opening and the stream. */
  open?(request: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream>
}
