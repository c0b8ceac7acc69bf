import type { OutputFormat } from '../../audio/format.ts'
import type { RequestContext, Route } from '../dispatch/request.ts'
import type { Fault } from '../fault.ts'
import type { Routing } from '../routing/routing.ts'
import type { StreamAudio, StreamTranscript } from './stt.ts'

/** Live speech to text and text to speech, as a surface uses them: an input and a sink in, a stream out. Times are in ms, audio is bytes. */

/** The states of a stream. A surface may add states of its protocol before `opening`. */
export type StreamState = 'opening' | 'streaming' | 'ending' | 'over'

export type StreamUsage = { costMicroUsd: number | null } & ({ durationMs: number } | { characters: number })

export type TranscribeStreamInput = RequestContext & {
  routing: Routing
  /** BCP 47. Omitted: the key's, else the provider detects. */
  language?: string
  audio: StreamAudio
  interimResults: boolean
  endpointingMs?: number
  words: boolean
  keywords?: readonly string[]
  prompt?: string
  /** Lets one broken provider be swapped before the first transcript, by sending the last audio again. */
  replay: boolean
}

/** Calls come in order, also from within a call to the session; `ended` or `failed` is the last. */
export interface TranscriptionSink {
  /** A second time only after a replay. */
  ready(route: Route): void
  speechStarted(startMs: number): void
  transcript(transcript: StreamTranscript): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface TranscriptionStream {
  /** Any length, odd ends too: half a sample is kept for the next call. The bytes are lent until it returns. */
  audio(bytes: Uint8Array): void
  flush(): void
  end(): void
  /** The client has gone: settles what was used and tells nothing more. */
  leave(): void
}

export type TranscribeStream = (order: TranscribeStreamInput, listener: TranscriptionSink) => TranscriptionStream

export type SynthesizeStreamInput = RequestContext & {
  routing: Routing
  /** As in SynthesizeOrder. */
  voice?: string
  preset?: string
  language?: string
  instructions?: string
  speed?: number
  wanted: OutputFormat
}

export interface SpeechSink {
  ready(route: Route): void
  /** In the wanted format, whole samples. False: no more until `resume` is called. */
  audio(bytes: Uint8Array): boolean
  /**
   * Answers `clear`, within the call to it: nothing of the text before it follows. `charactersSent` are those of the text since the last clear, or
   * the start, whose audio was handed over; a sentence counts as a whole as soon as its first audio was.
   */
  cleared(charactersSent: number): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface SpeechStream {
  /** Spoken as soon as a sentence is whole. */
  text(text: string): void
  /** Speaks what is left although no sentence has ended. */
  flush(): void
  /** Barge-in: drops all that has not been handed to the listener. */
  clear(): void
  /** Speaks what is left, then ends. */
  end(): void
  resume(): void
  leave(): void
}

export type SynthesizeStream = (order: SynthesizeStreamInput, listener: SpeechSink) => SpeechStream
