/** Forced alignment: finds the words of a known text in audio. */

export type AlignRequest = {
  text: string
  /** Mono. The speech begins at the first sample with the text's first word. It may stop before the text's end. */
  samples: Int16Array
  sampleRateHz: number
}

export interface Aligner {
  /**
   * Resolves with the position in the text after the last word that was certainly spoken in full, or with 0 if no word
   * was. Rejects with ProviderError.
   */
  spokenUpTo(request: AlignRequest, signal: AbortSignal): Promise<number>
}
