import type { Recording } from '../../audio/format.ts'
import type { ProviderError } from './provider-error.ts'
import type { CancelSignal } from './system.ts'

export type SttOptions = {
  diarization?: boolean
  keywords?: readonly string[]
  noiseReduction?: boolean
  wordTimestamps?: boolean
  /**
   * Requests segments with times. If the model has no such segments, the transcript has one segment for the whole
   * recording.
   */
  segmentTimes?: boolean
  prompt?: string
  /** Provider options. They were checked before: the model accepts them. */
  providerOptions?: Readonly<Record<string, string | number | boolean>>
}

export type SttRequest = {
  model: string
  recording: Recording
  /** The language in this provider's spelling. If absent, the provider detects the language. */
  language?: string
  options: SttOptions
}

export type Segment = { text: string; startMs: number; endMs: number; speaker?: string }
export type Word = { text: string; startMs: number; endMs: number; speaker?: string; confidence?: number }

/** If the audio is silent, the text is empty and there are no segments. This is not an error. */
export type Transcript = {
  text: string
  segments: Segment[]
  words?: Word[]
  language?: string
  /** The billed duration, if the provider reports it. */
  billedMs?: number
}

/** Frames contain raw samples, never a container's header. */
export type StreamAudio = { encoding: 'pcm_s16le' | 'mulaw' | 'alaw' | 'opus'; sampleRateHz: number; channels: number }

export type SttStreamRequest = {
  model: string
  audio: StreamAudio
  /** The language in this provider's spelling. If absent, the provider detects the language. */
  language?: string
  interimResults: boolean
  /** This much silence ends an utterance. If absent, the provider's default applies. */
  endpointingMs?: number
  words: boolean
  keywords?: readonly string[]
  prompt?: string
}

/** A part of one utterance's text. */
export type StreamTranscript = {
  /** Counts utterances from 0. All interim and final transcripts of an utterance have the same number. */
  utterance: number
  text: string
  /** True if this text will not change any more. */
  isFinal: boolean
  /** True if this is the utterance's last final: the end point was found. */
  speechFinal: boolean
  /** Measured from the beginning of the stream's audio. */
  startMs: number
  endMs: number
  confidence?: number
  language?: string
  words?: readonly Word[]
}

/** Receives one open stream's events. No event follows `ended`, `failed` or `close`. */
export interface SttStreamSink {
  speechStarted(startMs: number): void
  /** Receives a transcript. Interims are sent only if `interimResults` is set. Silence produces no transcript. */
  transcript(transcript: StreamTranscript): void
  /** Called when all audio before `end` was transcribed. `billedMs` is present if the provider reports it. */
  ended(billedMs?: number): void
  failed(error: ProviderError): void
}

/** One open stream. After `end` only `close` may be called. */
export interface SttStream {
  /** Sends whole samples. The array may be reused after the function returns. */
  audio(bytes: Uint8Array): void
  /** Counts bytes that the adapter has not sent yet. The calling code limits their number. */
  readonly bufferedBytes: number
  /** Ends the utterance now, so its text becomes final. */
  flush(): void
  /** Called after the last audio. */
  end(): void
  /** Closes the stream at once. A second call does nothing. */
  close(): void
}

export interface Stt {
  /** Rejects with ProviderError. If `signal` is aborted, the request ends and no work continues. */
  transcribe(request: SttRequest, signal: AbortSignal): Promise<Transcript>
  /**
   * Opens a stream. Resolves when the provider is ready for audio, or rejects with ProviderError. If `signal` is
   * aborted, the opening or the stream ends. Absent if the provider has no streaming model.
   */
  open?(request: SttStreamRequest, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream>
}
