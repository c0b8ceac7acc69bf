/**
 * The samples of one stream that have no answer yet. Frames stay here until they are answered, so that they can be sent
 * again to another child. The ring grows while a child is late, and is small again once it has caught up.
 *
 *   ring   [ sent | waiting | the rest of a frame | free ]
 *   frames  #done           #written
 */
import { vadFrameSamples, vadLateFramesMax } from '../../domain/ports/vad.ts'

/** Two seconds: a child that was killed is replaced within one. */
export const usualFrames = 64

export class VadFrames {
  #ring = new Int16Array(usualFrames * vadFrameSamples)
  /** Counted from the start of the stream, as are all numbers of frames. */
  #writtenSamples = 0
  #sent = 0
  #done = 0

  /** Takes as many of the samples as one frame still needs, and answers how many. A frame must be free: see `full`. */
  write(samples: Int16Array): number {
    if (this.unanswered * vadFrameSamples >= this.#ring.length) this.#resize(2 * this.#ring.length)
    const missing = vadFrameSamples - (this.#writtenSamples % vadFrameSamples)
    const taken = samples.subarray(0, missing)
    this.#ring.set(taken, this.#writtenSamples % this.#ring.length)
    this.#writtenSamples += taken.length
    return taken.length
  }

  /** The number of whole frames without an answer. */
  get unanswered(): number {
    return this.#whole - this.#done
  }

  /** No more frames may wait for their answers. */
  get full(): boolean {
    return this.unanswered === vadLateFramesMax
  }

  /** The number of whole frames that were not sent. */
  get waiting(): number {
    return this.#whole - this.#sent
  }

  /** Copies the next frame that was not sent, and answers its number. */
  send(to: Int16Array, at: number): number {
    const from = (this.#sent * vadFrameSamples) % this.#ring.length
    to.set(this.#ring.subarray(from, from + vadFrameSamples), at)
    return this.#sent++
  }

  /** False if the frame was answered before. */
  answered(frame: number): boolean {
    if (frame !== this.#done) return false
    this.#done++
    this.#sent = Math.max(this.#sent, this.#done)
    const usual = usualFrames * vadFrameSamples
    if (this.unanswered === 0 && this.#ring.length > usual) this.#resize(usual)
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

  /** Each frame keeps the place that its number has in a ring of this length. */
  #resize(length: number): void {
    const ring = new Int16Array(length)
    for (let frame = this.#done; frame <= this.#whole; frame++) {
      const at = frame * vadFrameSamples
      const from = at % this.#ring.length
      ring.set(this.#ring.subarray(from, from + vadFrameSamples), at % length)
    }
    this.#ring = ring
  }
}
