/**
 * The samples of one stream that have no answer yet. Frames stay here until they are answered, so that they can be sent
 * again to another child.
 *
 *   ring   [ sent | waiting | the rest of a frame | free ]
 *   frames  #done           #written
 */
import { vadFrameSamples } from '../../domain/conversation/vad.ts'

/** Two seconds: a child that was killed is replaced within one. */
const framesMax = 64
const ringSamples = framesMax * vadFrameSamples

export class VadFrames {
  readonly #ring = new Int16Array(ringSamples)
  /** Counted from the start of the stream, as are all numbers of frames. */
  #writtenSamples = 0
  #sent = 0
  #done = 0

  /** Takes as many of the samples as one frame still needs, and answers how many. A frame must be free: see `full`. */
  write(samples: Int16Array): number {
    const missing = vadFrameSamples - (this.#writtenSamples % vadFrameSamples)
    const taken = samples.subarray(0, missing)
    this.#ring.set(taken, this.#writtenSamples % ringSamples)
    this.#writtenSamples += taken.length
    return taken.length
  }

  /** Every frame of the ring waits for its answer. */
  get full(): boolean {
    return this.#whole - this.#done === framesMax
  }

  /** The number of whole frames that were not sent. */
  get waiting(): number {
    return this.#whole - this.#sent
  }

  /** Copies the next frame that was not sent, and answers its number. */
  send(to: Int16Array, at: number): number {
    const from = (this.#sent * vadFrameSamples) % ringSamples
    to.set(this.#ring.subarray(from, from + vadFrameSamples), at)
    return this.#sent++
  }

  /** False if the frame was answered before. */
  answered(frame: number): boolean {
    if (frame !== this.#done) return false
    this.#done++
    this.#sent = Math.max(this.#sent, this.#done)
    return true
  }

  /** The oldest frame without an answer. */
  get oldest(): number {
    return this.#done
  }

  /** The child has died: its frames are sent to the next one. */
  rewind(): void {
    this.#sent = this.#done
  }

  get #whole(): number {
    return Math.floor(this.#writtenSamples / vadFrameSamples)
  }
}
