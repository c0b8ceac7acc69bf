/** Voice activity detection. `providers/local` implements it. */

export const vadRateHz = 16_000
/** 32 ms. */
export const vadFrameSamples = 512

export interface Vad {
  /** `onFrame` is called in order, once for each frame of `vadFrameSamples`, a few milliseconds later. */
  open(onFrame: (speechProbability: number) => void): VadStream
  close(): Promise<void>
}

export interface VadStream {
  /** Mono samples at `vadRateHz`, any number of them. They are lent until it returns. */
  push(samples: Int16Array): void
  close(): void
}
