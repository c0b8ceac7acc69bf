/** Voice activity detection. `providers/local` implements it. */

export const vadRateHz = 16_000
/** The format of the caller's audio for every engine. */
export const callerAudio = { encoding: 'pcm_s16le', sampleRateHz: vadRateHz, channels: 1 } as const
/** Samples per frame, 32 ms long. */
export const vadFrameSamples = 512
/**
 * The VAD answers a frame at most this many frames later. They last 16 s, enough to start a process on a busy machine.
 */
export const vadLateFramesMax = 512

export interface Vad {
  /**
   * Opens a stream. `onFrame` is called once for each frame, in order: usually a few milliseconds later, at most
   * `vadLateFramesMax` frames later.
   */
  open(onFrame: (speechProbability: number) => void): VadStream
  close(): Promise<void>
}

export interface VadStream {
  /** Accepts any number of mono samples at `vadRateHz`. The array may be reused after the function returns. */
  push(samples: Int16Array): void
  close(): void
}
