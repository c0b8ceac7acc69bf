/** A recognizer's model, as the child processes for recordings and for live streams use it. */

/** The sample rate of the speech that models take. */
export const speechRateHz = 16000

export type SpeechText = {
  text: string
  /** The speech's language as a BCP 47 base language: the requested language, or the language that the model found. */
  language: string
}

export interface SpeechModel {
  /**
   * Recognizes one segment of mono speech, 15 s at most. Checks the cancel signal between two tokens, and rejects with
   * the signal's reason if it was aborted.
   */
  transcribe(samples: Float32Array, signal: AbortSignal): Promise<SpeechText>
}
