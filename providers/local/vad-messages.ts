/** The messages between the child that finds speech in all live streams of a serving process and its parent. */

/** The parent sends the next batch after the answer to the last one, so messages have no id. */
export type VadBatch = {
  /** One number for each frame: the stream that it belongs to. A stream can have several frames, in order. */
  streams: Uint32Array
  /** The frames, `vadFrameSamples` each. */
  samples: Int16Array
  /** Streams that are over. */
  closed: readonly number[]
}

/** The probability of speech of each frame of the batch. */
export type VadAnswer = { probabilities: Float32Array }
