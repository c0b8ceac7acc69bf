/** Forced alignment: it finds the words of a known text in audio. */

export type AlignRequest = {
  text: string
  /** The text is spoken from the first sample on, and the audio is cut anywhere. Mono. */
  samples: Int16Array
  sampleRateHz: number
}

export interface Aligner {
  /** The place behind the last word of the text that was surely spoken whole, or 0. Rejects with ProviderError. */
  spokenUpTo(request: AlignRequest, signal: AbortSignal): Promise<number>
}
