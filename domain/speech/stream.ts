import type { OutputFormat } from '../../audio/format.ts'
import type { RequestContext, Route } from '../dispatch/request.ts'
import type { StreamAudio, StreamTranscript } from '../ports/stt.ts'
import type { WordEnd } from '../ports/tts.ts'
import type { Fault } from '../records/fault.ts'
import type { Routing } from '../routing/ask.ts'

/**
 * Types for live speech to text and text to speech. An API passes an input and a sink, and receives a stream. Times are
 * in milliseconds, and audio is in bytes.
 */

/** A stream's states. An API may add its protocol's states before `opening`. */
export type StreamState = 'opening' | 'streaming' | 'ending' | 'over'

export type StreamUsage = { costMicroUsd: number | null } & ({ durationMs: number } | { characters: number })

export type TranscribeStreamInput = RequestContext & {
  routing: Routing
  /** The language as BCP 47. If absent, the API key's language is used, else the provider detects the language. */
  language?: string
  /** If true, `language` only chooses the route, and the provider detects the spoken language. */
  detectsLanguage?: boolean
  /** If true, only models that support the keywords and the prompt are candidates. */
  strictHints?: boolean
  audio: StreamAudio
  interimResults: boolean
  endpointingMs?: number
  words: boolean
  keywords?: readonly string[]
  prompt?: string
  /** Allows one failover before the first transcript, by sending the last audio again. */
  replay: boolean
}

/** Input that helps recognition in some models. Other models serve the stream without it. */
export type Hint = 'keywords' | 'prompt'

/** Events arrive in order, even while a method of the stream runs. The last event is `ended` or `failed`. */
export interface TranscriptionSink {
  /**
   * Called when a provider is open, and a second time only after a failover. `ignored` lists hints that the provider
   * does not support and did not receive.
   */
  ready(route: Route, ignored: readonly Hint[]): void
  /** Called when the provider finds the start of speech. Absent if the calling code does not need this. */
  speechStarted?(startMs: number): void
  transcript(transcript: StreamTranscript): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface TranscriptionStream {
  /**
   * Accepts chunks of any length: an incomplete sample is kept until the next chunk. The buffer may be reused after the
   * function returns.
   */
  audio(bytes: Uint8Array): void
  flush(): void
  end(): void
  /** Ends the stream without further events, because the client has disconnected. The usage so far is billed. */
  leave(): void
}

export type TranscribeStream = (input: TranscribeStreamInput, sink: TranscriptionSink) => TranscriptionStream

/** Throws the fault if no provider could open this stream now. */
export type CheckTranscribeStream = (input: TranscribeStreamInput) => void

export type SynthesizeStreamInput = RequestContext & {
  routing: Routing
  /** A voice and a preset, as in VoiceWish. */
  voice?: string
  preset?: string
  language?: string
  instructions?: string
  speed?: number
  outputFormat: OutputFormat
}

export interface SpeechSink {
  /**
   * Called with the serving route. Called a second time only before the first audio, if another provider has taken
   * over.
   */
  ready(route: Route): void
  /**
   * Called before the audio for a part of the text since the last `clear`. The part starts at the UTF-16 code unit
   * `from`. `ends` grows while audio arrives, and remains empty if the provider reports no word timings. The times in
   * `ends` count from this audio's start, and the text positions in `ends` count from `from`. If this method is absent,
   * no word timings are requested from the provider.
   */
  speaking?(from: number, ends: readonly WordEnd[]): void
  /** Receives whole samples in the output format. Returns false if no more audio may come until `resume`. */
  audio(bytes: Uint8Array): boolean
  /**
   * Called by `clear` before it returns: no audio for the earlier text follows. `charactersSent` is the number of
   * characters (code points) since the start, up to the last sentence with all its speech handed over.
   */
  cleared(charactersSent: number): void
  /** Called when a sentence has ended: the speech for the text's first `charactersSent` characters was handed over. */
  handedOver?(charactersSent: number): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface SpeechStream {
  /** Adds text. Each sentence is spoken when it is complete. */
  text(text: string): void
  /** Speaks the rest of the text even if its sentence is incomplete. */
  flush(): void
  /** Drops all audio not yet handed to the sink, for example after a barge-in. */
  clear(): void
  /** Speaks the rest of the text, then ends the stream. */
  end(): void
  resume(): void
  /** True while the speech for sent text has not been handed over completely. */
  readonly owesSpeech: boolean
  leave(): void
}

export type SynthesizeStream = (input: SynthesizeStreamInput, sink: SpeechSink) => SpeechStream
