/** Forced alignment: finds a known text's words in audio. */

export type AlignRequest = {
  text: string
  /** Mono. The text begins at the first sample, and the audio may be cut anywhere. */
  samples: Int16Array
  sampleRateHz: number
}

export interface Aligner {
  /** The place behind the last word surely spoken in full, or 0. Rejects with ProviderError. */
  spokenUpTo(request: AlignRequest, signal: AbortSignal): Promise<number>
}
