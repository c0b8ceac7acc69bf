/** Voice activity detection. `providers/local` implements it. */

export const vadRateHz = 16_000
/** The caller's audio, as every engine gets it. */
export const callerAudio = { encoding: 'pcm_s16le', sampleRateHz: vadRateHz, channels: 1 } as const
/** 32 ms. */
export const vadFrameSamples = 512
/** The answer to a frame comes at most this many frames later: 16 s, so a process can start on a busy machine. */
export const vadLateFramesMax = 512

export interface Vad {
  /**
   * `onFrame` is called in order, once for each frame: a few milliseconds later, or up to `vadLateFramesMax` frames
   * later.
   */
  open(onFrame: (speechProbability: number) => void): VadStream
  close(): Promise<void>
}

export interface VadStream {
  /** Mono samples at `vadRateHz`, in any number. They are lent until it returns. */
  push(samples: Int16Array): void
  close(): void
}
