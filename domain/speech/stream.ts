import type { OutputFormat } from '../../audio/format.ts'
import type { RequestContext, Route } from '../dispatch/request.ts'
import type { StreamAudio, StreamTranscript } from '../ports/stt.ts'
import type { WordEnd } from '../ports/tts.ts'
import type { Fault } from '../records/fault.ts'
import type { Routing } from '../routing/ask.ts'

/**
 * Live speech to text and text to speech for surfaces: an input and a sink in, a stream out. Times are in ms, audio is
 * bytes.
 */

/** A stream's states. A surface may add its protocol's states before `opening`. */
export type StreamState = 'opening' | 'streaming' | 'ending' | 'over'

export type StreamUsage = { costMicroUsd: number | null } & ({ durationMs: number } | { characters: number })

export type TranscribeStreamInput = RequestContext & {
  routing: Routing
  /** BCP 47. If absent, the key's language is used, else the provider detects it. */
  language?: string
  /** `language` only chooses the route, and the provider detects the spoken language. */
  detectsLanguage?: boolean
  /** If true, only models that take the keywords and the prompt are candidates. */
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

/** Hints help a model that takes them. All other models serve without them. */
export type Hint = 'keywords' | 'prompt'

/** Events come in order, even while a method of the stream runs. The last event is `ended` or `failed`. */
export interface TranscriptionSink {
  /** Comes a second time only after a failover. `ignored` lists hints that the provider cannot take and did not get. */
  ready(route: Route, ignored: readonly Hint[]): void
  speechStarted(startMs: number): void
  transcript(transcript: StreamTranscript): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface TranscriptionStream {
  /**
   * Takes chunks with any length: half a sample is kept for the next chunk. The bytes are lent until the function
   * returns.
   */
  audio(bytes: Uint8Array): void
  flush(): void
  end(): void
  /** The client has gone. Settles the usage. No event follows. */
  leave(): void
}

export type TranscribeStream = (input: TranscribeStreamInput, sink: TranscriptionSink) => TranscriptionStream

/** Throws the Fault if no provider could open this stream now. */
export type CheckTranscribeStream = (input: TranscribeStreamInput) => void

export type SynthesizeStreamInput = RequestContext & {
  routing: Routing
  /** As in VoiceWish. */
  voice?: string
  preset?: string
  language?: string
  instructions?: string
  speed?: number
  outputFormat: OutputFormat
}

export interface SpeechSink {
  /** Comes a second time only before the first audio, if another provider has taken over. */
  ready(route: Route): void
  /**
   * The next audio speaks the text since the last `clear`, starting at the UTF-16 code unit `from`. `ends` grows while
   * the audio comes, and stays empty if the provider reports no words. Its times count from this audio's start, its
   * places from `from`. If absent, the provider is not asked for words.
   */
  speaking?(from: number, ends: readonly WordEnd[]): void
  /** Whole samples in the output format. False if no more audio may come until `resume`. */
  audio(bytes: Uint8Array): boolean
  /**
   * Answers `clear` while `clear` runs: no audio for the earlier text follows. `charactersSent` counts characters (code
   * points) since the start whose speech was handed over whole. A cut-off sentence does not count.
   */
  cleared(charactersSent: number): void
  /** A sentence has ended: the speech for the text's first `charactersSent` characters was handed over. */
  handedOver?(charactersSent: number): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface SpeechStream {
  /** Each sentence is spoken when it is complete. */
  text(text: string): void
  /** Speaks the rest even if its sentence is incomplete. */
  flush(): void
  /** Barge-in: drops all audio not yet handed to the sink. */
  clear(): void
  /** Speaks the rest, then ends. */
  end(): void
  resume(): void
  /** True while the speech for sent text has not been handed over completely. */
  readonly owesSpeech: boolean
  leave(): void
}

export type SynthesizeStream = (input: SynthesizeStreamInput, sink: SpeechSink) => SpeechStream
