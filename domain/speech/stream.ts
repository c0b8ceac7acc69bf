import type { OutputFormat } from '../../audio/format.ts'
import type { RequestContext, Route } from '../dispatch/request.ts'
import type { StreamAudio, StreamTranscript } from '../ports/stt.ts'
import type { WordEnd } from '../ports/tts.ts'
import type { Fault } from '../records/fault.ts'
import type { Routing } from '../routing/ask.ts'

/**
 * Types for live speech to text and text to speech. A surface passes an input and a sink, and gets a stream. Times are
 * in ms, audio is bytes.
 */

/** A stream's states. A surface may add its protocol's states before `opening`. */
export type StreamState = 'opening' | 'streaming' | 'ending' | 'over'

export type StreamUsage = { costMicroUsd: number | null } & ({ durationMs: number } | { characters: number })

export type TranscribeStreamInput = RequestContext & {
  routing: Routing
  /** BCP 47. If absent, the key's language is used, else the provider detects it. */
  language?: string
  /** If true, `language` only chooses the route, and the provider detects the spoken language. */
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

/** Input that helps recognition in some models. Other models serve the stream without it. */
export type Hint = 'keywords' | 'prompt'

/** Events come in order, even while a method of the stream runs. The last event is `ended` or `failed`. */
export interface TranscriptionSink {
  /**
   * Called when a provider is open, and a second time only after a failover. `ignored` lists hints that the provider
   * cannot take and did not get.
   */
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
  /** Ends the stream without further events, because the client has gone. The usage is settled. */
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
   * `from`. `ends` grows while the audio comes, and stays empty if the provider reports no words. Its times count from
   * this audio's start, its places from `from`. If this method is absent, the provider is not asked for words.
   */
  speaking?(from: number, ends: readonly WordEnd[]): void
  /** Takes whole samples in the output format. Returns false if no more audio may come until `resume`. */
  audio(bytes: Uint8Array): boolean
  /**
   * Called by `clear` before it returns: no audio for the earlier text follows. `charactersSent` counts the characters
   * (code points) since the start whose speech was handed over whole. A cut-off sentence does not count.
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
  /** Speaks the rest even if its sentence is incomplete. */
  flush(): void
  /** Drops all audio not yet handed to the sink, for example after a barge-in. */
  clear(): void
  /** Speaks the rest, then ends the stream. */
  end(): void
  resume(): void
  /** True while the speech for sent text has not been handed over completely. */
  readonly owesSpeech: boolean
  leave(): void
}

export type SynthesizeStream = (input: SynthesizeStreamInput, sink: SpeechSink) => SpeechStream
