/** Forced alignment: finds the words of a known text in audio. */

export type AlignRequest = {
  text: string
  /** Mono. The text begins at the first sample, but the audio may end anywhere in it. */
  samples: Int16Array
  sampleRateHz: number
}

export interface Aligner {
  /**
   * Resolves with the place in the text after the last word that was certainly spoken in full, or with 0. Rejects with
   * ProviderError.
   */
  spokenUpTo(request: AlignRequest, signal: AbortSignal): Promise<number>
}
