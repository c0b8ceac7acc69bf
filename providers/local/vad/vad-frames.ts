/**
 * Stores one stream's samples in frames until the VAD child process has answered them, so that unanswered frames can be
 * sent again to another child process. The ring grows while a child is late, and shrinks when the child has caught up.
 *
 *   ring   [ sent | waiting | the rest of a frame | free ]
 *   frames  #done           #written
 */
import { vadFrameSamples, vadLateFramesMax } from '../../../domain/ports/vad.ts'

/** The ring's usual length in frames: two seconds. A killed child is replaced within one second. */
export const usualFrames = 64

export class VadFrames {
  #ring = new Int16Array(usualFrames * vadFrameSamples)
  /** The number of samples written since the stream's start. All frame numbers count from there too. */
  #writtenSamples = 0
  #sent = 0
  #done = 0

  /**
   * Copies samples until the current frame is complete, and returns the number copied. Must not be called while `full`
   * is true.
   */
  write(samples: Int16Array): number {
    if (this.unanswered * vadFrameSamples >= this.#ring.length) this.#resize(2 * this.#ring.length)
    const missing = vadFrameSamples - (this.#writtenSamples % vadFrameSamples)
    const part = samples.subarray(0, missing)
    this.#ring.set(part, this.#writtenSamples % this.#ring.length)
    this.#writtenSamples += part.length
    return part.length
  }

  /** The number of whole frames without an answer. */
  get unanswered(): number {
    return this.#whole - this.#done
  }

  /** True if the ring has no space for a further frame without an answer. */
  get full(): boolean {
    return this.unanswered === vadLateFramesMax
  }

  /** The number of unsent whole frames. */
  get waiting(): number {
    return this.#whole - this.#sent
  }

  /** Copies the next unsent frame and returns its number. */
  send(to: Int16Array, at: number): number {
    const from = (this.#sent * vadFrameSamples) % this.#ring.length
    to.set(this.#ring.subarray(from, from + vadFrameSamples), at)
    return this.#sent++
  }

  /** Records the answer to a frame. Returns false if the frame was already answered. */
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

  /** Called when the child has died. Marks its unanswered frames as unsent, so they are sent to the next child. */
  rewind(): void {
    this.#sent = this.#done
  }

  get #whole(): number {
    return Math.floor(this.#writtenSamples / vadFrameSamples)
  }

  /** Changes the ring's length. Each frame moves to its number's position in the new ring. */
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
