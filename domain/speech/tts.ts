import type { OutputFormat } from '../../audio/format.ts'

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
