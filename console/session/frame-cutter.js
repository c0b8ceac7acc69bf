/**
 * Cuts mono audio into 20 ms frames with 16-bit samples, for the session's socket. Each frame is a new array and is
 * passed to `emit`, so `emit` may keep or transfer it.
 */
export class FrameCutter {
  #frame
  #filled = 0
  #emit

  constructor(rateHz, emit) {
    this.#frame = new Int16Array(rateHz / 50)
    this.#emit = emit
  }

  push(samples) {
    for (let i = 0; i < samples.length; i++) {
      const bounded = Math.max(-1, Math.min(1, samples[i]))
      this.#frame[this.#filled++] = Math.round(bounded * 32767)
      if (this.#filled < this.#frame.length) continue
      const full = this.#frame
      this.#frame = new Int16Array(full.length)
      this.#filled = 0
      this.#emit(full)
    }
  }
}
