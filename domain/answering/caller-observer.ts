/** Receives the caller's audio and words beside the conversation, and cannot change them. */
export type CallerObserver = {
  /** Gets samples at `vadRateHz`. They are lent until the function returns. */
  audio(samples: Int16Array): void
  speechStarted(): void
  speechEnded(): void
  /** Gets the newest transcript. It replaces the last text unless that text was final. */
  words(text: string, isFinal: boolean): void
}
