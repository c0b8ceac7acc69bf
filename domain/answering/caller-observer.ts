/** Follows the audio of the caller beside the conversation, and cannot change it. */
export type CallerObserver = {
  /** Samples at `vadRateHz`, lent until it returns. */
  audio(samples: Int16Array): void
  speechStarted(): void
  speechEnded(): void
  /** The newest text of speech to text, which replaces the one before it unless that was final. */
  words(text: string, isFinal: boolean): void
}
