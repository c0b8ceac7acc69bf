import type { OutputFormat } from '../../audio/format.ts'

export type TtsRequest = {
  model: string
  text: string
  voice?: string
  language?: string
  instructions?: string
  /** 0.25 to 4, 1 is the voice's own. */
  speed?: number
  /** What the caller wants; an adapter that can emit it does, else it answers in its own format. */
  wanted: OutputFormat
}

/** Chunks need not be aligned to samples. The first chunk is media, never a bare header. */
export type Speech = {
  format: OutputFormat
  audio: AsyncIterable<Uint8Array>
}

export interface Tts {
  /**
   * Resolves when the provider has accepted; the iteration rejects with ProviderError when it breaks off.
   * An iteration that ends without a byte for non-empty text is the caller's to treat as `empty`.
   */
  synthesize(request: TtsRequest, signal: AbortSignal): Promise<Speech>
  /**
   * The same over the vendor's socket, for sessions, where a kept socket spares the time to open one. The text of a request is a sentence or more;
   * absent: `synthesize` serves sessions too.
   */
  live?(request: TtsRequest, signal: AbortSignal): Promise<Speech>
}
