import type { OutputFormat } from '../../audio/format.ts'

/**
 * The request's text up to `place`, in UTF-16 code units, has been spoken `endMs` after its audio's start. `place` is
 * at the end of a word or of a word's part.
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
  /**
   * The desired format. If an adapter cannot emit it, it answers in another format and names it in `Speech.format`.
   */
  outputFormat: OutputFormat
  /**
   * Called in order. If the provider reports words in time, the call comes at the latest with the audio at the word's
   * end. Absent if word ends are not needed. If the provider does not report words, it is never called.
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
   * Resolves when the provider has accepted the text. The iteration rejects with ProviderError if the provider breaks
   * off. If it ends without a byte, the domain treats this as `empty`.
   */
  synthesize(request: TtsRequest, signal: AbortSignal): Promise<Speech>
  /**
   * The same over the vendor's socket, for streams: a reused socket saves the time to open one. A request's text is at
   * least a sentence. If absent, streams use `synthesize` too.
   */
  live?(request: TtsRequest, signal: AbortSignal): Promise<Speech>
}
