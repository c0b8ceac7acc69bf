import type { OutputFormat } from '../../audio/format.ts'

/**
 * The text's first `place` UTF-16 code units have been spoken `endMs` after the audio's start. `place` is the end of a
 * word or of a word's part.
 */
export type WordEnd = { place: number; endMs: number }

export type TtsRequest = {
  model: string
  text: string
  voice?: string
  language?: string
  instructions?: string
  /** From 0.25 to 4. 1 is the voice's usual speed. */
  speed?: number
  /** The desired format. If an adapter cannot produce it, the answer has another format, named in `Speech.format`. */
  outputFormat: OutputFormat
  /**
   * Called in the order of the text, at the latest with the audio at the word's end. It is never called if the provider
   * does not report word ends in time. Absent if word ends are not needed.
   */
  onWordEnd?: (end: WordEnd) => void
}

/** Chunks may end inside a sample. The first chunk contains audio, never only a header. */
export type Speech = {
  format: OutputFormat
  audio: AsyncIterable<Uint8Array>
}

export interface Tts {
  /**
   * Resolves when the provider has accepted the text. The iteration rejects with ProviderError if the provider breaks
   * off. If it ends without a byte, the domain treats this as the failure `empty`.
   */
  synthesize(request: TtsRequest, signal: AbortSignal): Promise<Speech>
  /**
   * Does the same over the vendor's socket, for streams: reusing a socket saves the time to open one. Each request's
   * text is at least a sentence. If absent, streams use `synthesize` too.
   */
  live?(request: TtsRequest, signal: AbortSignal): Promise<Speech>
}
