import { FrameBuffer, frameHeaderBytes } from './frame-buffer.ts'
import type { StreamFramer } from './stream-framer.ts'

/** The last audio of a stream, to send it again. */
export class RecentAudio {
  readonly frames: FrameBuffer
  readonly #framer: StreamFramer
  readonly #samplesMax: number
  #samples = 0

  constructor(framer: StreamFramer, mostMs: number) {
    this.#framer = framer
    this.#samplesMax = framer.samplesIn(mostMs)
    this.frames = new FrameBuffer((mostMs / 1000) * framer.bytesPerS + (mostMs / usualFrameMs) * frameHeaderBytes)
  }

  get samples(): number {
    return this.#samples
  }

  /** Drops the oldest for it. A frame that is larger than all that is kept leaves nothing. */
  push(frame: Uint8Array): void {
    const samples = this.#framer.samplesOf(frame)
    for (let oldest = this.frames.peek(); oldest !== null; oldest = this.frames.peek()) {
      if (this.frames.fits(frame) && this.#samples + samples <= this.#samplesMax) break
      this.#samples -= this.#framer.samplesOf(oldest)
      this.frames.drop()
    }
    if (this.frames.push(frame)) this.#samples += samples
  }
}

/** With smaller frames a little less audio is kept. */
const usualFrameMs = 20
