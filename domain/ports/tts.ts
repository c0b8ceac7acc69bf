import type { OutputFormat } from '../../audio/format.ts'

/**
 * States that the text's first `place` UTF-16 code units have been spoken at `endMs` after the audio's start. `place`
 * is at the end of a word or word part.
 */
export type WordEnd = { place: number; endMs: number }

export type TtsRequest = {
  model: string
  text: string
  voice?: string
  language?: string
  instructions?: string
  /** The speed, between 0.25 and 4. The voice's normal speed is 1. */
  speed?: number
  /** The desired format. If an adapter cannot produce it, the answer has another format, named in `Speech.format`. */
  outputFormat: OutputFormat
  /**
   * Called for each word end in the text's order, not later than the audio at this word end. Never called if the
   * provider reports no word ends or reports them late. Absent if word ends are not needed.
   */
  onWordEnd?: (end: WordEnd) => void
}

/** Chunks may end in the middle of a sample. The first chunk always contains audio, not only a header. */
export type Speech = {
  format: OutputFormat
  audio: AsyncIterable<Uint8Array>
}

export interface Tts {
  /**
   * Resolves when the provider has accepted the text. The iteration rejects with ProviderError if the provider breaks
   * off. If the audio ends without a byte, the domain treats this as the failure `empty`.
   */
  synthesize(request: TtsRequest, signal: AbortSignal): Promise<Speech>
  /**
   * Does the same as `synthesize` for streams, but in the way that delivers the first audio earliest, for example over
   * a WebSocket that is already open. Each request's text is at least a sentence. If absent, streams use `synthesize`
   * too.
   */
  live?(request: TtsRequest, signal: AbortSignal): Promise<Speech>
}
