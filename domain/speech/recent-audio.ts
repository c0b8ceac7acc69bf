import type { AudioLayout } from './audio-layout.ts'
import { FrameBuffer, frameHeaderBytes } from './frame-buffer.ts'

/** Keeps a stream's last audio, so that it can be sent again. */
export class RecentAudio {
  readonly frames: FrameBuffer
  readonly #layout: AudioLayout
  readonly #samplesMax: number
  #samples = 0

  constructor(layout: AudioLayout, mostMs: number) {
    this.#layout = layout
    this.#samplesMax = layout.samplesIn(mostMs)
    this.frames = new FrameBuffer((mostMs / 1000) * layout.bytesPerS + (mostMs / usualFrameMs) * frameHeaderBytes)
  }

  get samples(): number {
    return this.#samples
  }

  /** Drops the oldest frames to make space. If a frame is larger than the whole buffer, the buffer becomes empty. */
  push(frame: Uint8Array): void {
    const samples = this.#layout.samplesOf(frame)
    for (let oldest = this.frames.peek(); oldest !== null; oldest = this.frames.peek()) {
      if (this.frames.fits(frame) && this.#samples + samples <= this.#samplesMax) break
      this.#samples -= this.#layout.samplesOf(oldest)
      this.frames.drop()
    }
    if (this.frames.push(frame)) this.#samples += samples
  }
}

/** If frames are shorter than this, a little less audio is kept, because each frame has a header. */
const usualFrameMs = 20
