import type { OutputFormat } from '../../audio/format.ts'

/**
 * The text of the request up to `place`, in UTF-16 code units, has been spoken `endMs` after the start of its audio. It
 * is the end of a word or of a part of one.
 */
export type WordEnd = { place: number; endMs: number }

export type TtsRequest = {
  model: string
  text: string
  voice?: string
  language?: string
  instructions?: string
  /** 0.25 to 4; 1 is the voice's usual speed. */
  speed?: number
  /** The format that the caller wants. An adapter that cannot emit it answers in another, which `Speech.format` names. */
  wanted: OutputFormat
  /**
   * Called in order, at the latest with the audio that a word ends in where the provider reports words in time. Absent:
   * nobody asks. An adapter whose provider does not report words never calls it.
   */
  onWordEnd?: (end: WordEnd) => void
}

/** Chunks may end inside a sample. The first chunk is media, never a bare header. */
export type Speech = {
  format: OutputFormat
  audio: AsyncIterable<Uint8Array>
}

export interface Tts {
  /**
   * Resolves when the provider has accepted the text. The iteration rejects with ProviderError when the provider breaks
   * off. The domain treats an iteration that ends without a byte as `empty`.
   */
  synthesize(request: TtsRequest, signal: AbortSignal): Promise<Speech>
  /**
   * The same over the vendor's socket, for streams: a kept socket saves the time to open one. The text of a request is
   * at least a sentence. Absent: streams use `synthesize` too.
   */
  live?(request: TtsRequest, signal: AbortSignal): Promise<Speech>
}
