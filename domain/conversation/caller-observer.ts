/** Follows the audio of the caller beside the conversation, and cannot change it. */
export type CallerObserver = {
  /** Samples at `vadRateHz`, lent until it returns. */
  audio(samples: Int16Array): void
  speechStarted(): void
  speechEnded(): void
}
