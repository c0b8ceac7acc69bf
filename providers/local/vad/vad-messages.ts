/**
 * The messages between the child process for voice activity detection and its parent. The child serves all live streams
 * in its parent process.
 */

/** The parent sends a batch only after the answer to the last batch, so messages have no id. */
export type VadBatch = {
  /** The stream id for each frame. A stream can have several frames, in order. */
  streams: Uint32Array
  /** The frames. Each has `vadFrameSamples` samples. */
  samples: Int16Array
  closed: readonly number[]
}

/** Each frame's speech probability, in the batch's order. */
export type VadAnswer = { probabilities: Float32Array }
