/** The child processes for recordings and for live streams use a recognizer's model through this interface. */

/** Every model takes speech at this sample rate. */
export const speechRateHz = 16000

export type SpeechText = {
  text: string
  /** The speech's language as a BCP 47 base language: the requested language, or the found language. */
  language: string
}

/** BCP 47 base languages. */
export type SpeechLanguage = {
  /** The request's language. If it is null, the model finds the language. */
  requested: string | null
  /** The language before this segment. A short segment alone does not tell its language well. */
  last: string | null
}

export interface SpeechModel {
  /** A stream's interim recognitions use at most this fraction of the time, so a slow recognition delays the next. */
  readonly interimShareMax: number
  /**
   * Recognizes one segment of mono speech, 15 s at most. Checks the cancel signal between two tokens, and rejects with
   * the signal's reason if it was aborted.
   */
  transcribe(samples: Float32Array, language: SpeechLanguage, signal: AbortSignal): Promise<SpeechText>
}
