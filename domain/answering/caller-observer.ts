/** Follows the caller's audio beside the conversation, and cannot change it. */
export type CallerObserver = {
  /** Samples at `vadRateHz`. They are lent until the function returns. */
  audio(samples: Int16Array): void
  speechStarted(): void
  speechEnded(): void
  /** The newest transcript. It replaces the last text unless that was final. */
  words(text: string, isFinal: boolean): void
}
