/** Receives a copy of the caller's audio and words during the conversation. It cannot change them. */
export type CallerObserver = {
  /** Receives samples at `vadRateHz`. The buffer may be reused after the function returns. */
  audio(samples: Int16Array): void
  /** Called when speech begins or ends. `atMs` is the time in the caller's audio, on the monotonic clock. */
  onset(atMs: number): void
  offset(atMs: number): void
  /** Receives the newest transcript. It replaces the last text unless that text was final. */
  words(text: string, isFinal: boolean): void
}
