import type { OutputFormat } from '../../audio/format.ts'
import type { RequestContext, Route } from '../dispatch/request.ts'
import type { StreamAudio, StreamTranscript } from '../ports/stt.ts'
import type { WordEnd } from '../ports/tts.ts'
import type { Fault } from '../records/fault.ts'
import type { Routing } from '../routing/ask.ts'

/**
 * Live speech to text and text to speech, as a surface uses them: an input and a sink in, a stream out. Times are in
 * ms, audio is bytes.
 */

/** The states of a stream. A surface may add states of its protocol before `opening`. */
export type StreamState = 'opening' | 'streaming' | 'ending' | 'over'

export type StreamUsage = { costMicroUsd: number | null } & ({ durationMs: number } | { characters: number })

export type TranscribeStreamInput = RequestContext & {
  routing: Routing
  /** BCP 47. Absent: the key's language, else the provider detects it. */
  language?: string
  /** `language` is only that of the route, and the provider detects what is spoken. */
  detectsLanguage?: boolean
  /** Only models that take the keywords and the prompt are candidates. */
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

/** Hints help a model that takes them, and every other model serves without them. */
export type Hint = 'keywords' | 'prompt'

/** Events come in order, also while a method of the stream runs; `ended` or `failed` is the last. */
export interface TranscriptionSink {
  /** Comes a second time only after a failover. `ignored` has the hints that the provider cannot take and was not sent. */
  ready(route: Route, ignored: readonly Hint[]): void
  speechStarted(startMs: number): void
  transcript(transcript: StreamTranscript): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface TranscriptionStream {
  /** Takes chunks of any length: half a sample is kept for the next chunk. The bytes are lent until it returns. */
  audio(bytes: Uint8Array): void
  flush(): void
  end(): void
  /** The client has gone: settles the usage. No event follows. */
  leave(): void
}

export type TranscribeStream = (input: TranscribeStreamInput, sink: TranscriptionSink) => TranscriptionStream

/** Throws the Fault with which no provider could open this stream now. */
export type CheckTranscribeStream = (input: TranscribeStreamInput) => void

export type SynthesizeStreamInput = RequestContext & {
  routing: Routing
  /** As in VoiceWish. */
  voice?: string
  preset?: string
  language?: string
  instructions?: string
  speed?: number
  wanted: OutputFormat
}

export interface SpeechSink {
  /** Comes a second time only before the first audio, when another provider has taken over. */
  ready(route: Route): void
  /**
   * The audio that follows speaks the text since the last `clear` from the UTF-16 code unit `from` on. `ends`, whose
   * times are from the start of this audio and whose places are from `from`, grows while the audio comes, and stays
   * empty if the provider reports no words. Absent: nobody asks, and the provider is not asked for words.
   */
  speaking?(from: number, ends: readonly WordEnd[]): void
  /** Whole samples in the wanted format. False: no more audio until `resume`. */
  audio(bytes: Uint8Array): boolean
  /**
   * Answers `clear` while `clear` runs: no audio of the text before it follows. `charactersSent` counts the characters
   * (code points) since the start whose speech was handed over whole; a sentence that was cut off does not count.
   */
  cleared(charactersSent: number): void
  /** The speech of the first `charactersSent` characters of the text was handed over: a sentence has ended. Absent: nobody asks. */
  handedOver?(charactersSent: number): void
  ended(usage: StreamUsage): void
  failed(fault: Fault): void
}

export interface SpeechStream {
  /** Each sentence is spoken as soon as it is complete. */
  text(text: string): void
  /** Speaks the rest although its sentence has not ended. */
  flush(): void
  /** Barge-in: drops all audio that was not handed to the sink. */
  clear(): void
  /** Speaks the rest, then ends. */
  end(): void
  resume(): void
  /** Text was sent whose speech has not been handed over yet. */
  readonly owesSpeech: boolean
  leave(): void
}

export type SynthesizeStream = (input: SynthesizeStreamInput, sink: SpeechSink) => SpeechStream
