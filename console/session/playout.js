import { Resampler } from './resampler.js'

/**
 * Buffers the agent's audio before the speaker (a jitter buffer), and records how much was played.
 *
 *   push, mark ──► resampler ──► queue ──► pull (the audio device)
 *
 * Playout starts when 60 ms are buffered, or when the oldest audio has waited 60 ms, so a late frame does not cause a
 * gap. If a gap still occurs, this delay grows by 20 ms, up to 200 ms; after ten seconds without a gap the delay
 * shrinks. Positions count samples at the device's rate since the beginning. A mark is passed when the audio before the
 * mark has left the speaker.
 */
export class Playout {
  #fromHz
  #toHz
  #resampler
  #onPlayed
  #latency
  /** A reused buffer for samples converted from Int16 to floats. */
  #floats = new Float32Array(0)
  #chunks = []
  /** The number of already played samples in the first chunk. */
  #offset = 0
  #isPlaying = false
  #held = 0
  #hold
  /** The position after all played audio. */
  #played = 0
  /** The position at the resampler's last reset, and the number of input samples since then. */
  #base = 0
  #input = 0
  /** Marks not yet reached (`#marks`), and marks with audio on its way from the device to the speaker (`#leaving`). */
  #marks = []
  #leaving = []
  #lastMark = null
  #lastMarkAt = 0
  /** The samples that the device has requested. They serve as a clock. */
  #clock = 0
  #ranDryAt = Number.NEGATIVE_INFINITY
  #calmSince = 0

  /** `latencyMs` is the time from the device's request to the speaker. `onPlayed` gets each passed mark's name. */
  constructor({ fromHz, toHz, onPlayed, latencyMs = 0 }) {
    this.#fromHz = fromHz
    this.#toHz = toHz
    this.#resampler = new Resampler(fromHz, toHz)
    this.#onPlayed = onPlayed
    this.#latency = Math.round((latencyMs * toHz) / 1000)
    this.#hold = this.#samplesOf(holdMsLeast)
  }

  get holdMs() {
    return Math.round((this.#hold * 1000) / this.#toHz)
  }

  get bufferedMs() {
    return ((this.#base + this.#samplesOfInput() - this.#played) * 1000) / this.#toHz
  }

  push(samples) {
    if (samples.length === 0 || this.bufferedMs > bufferedMsMax) return
    if (this.#floats.length !== samples.length) this.#floats = new Float32Array(samples.length)
    for (let i = 0; i < samples.length; i++) this.#floats[i] = samples[i] / 32768
    this.#noteGap()
    this.#input += samples.length
    this.#queue(this.#resampler.push(this.#floats))
  }

  mark(name) {
    this.#marks.push({ name, at: this.#base + this.#samplesOfInput() })
    this.#passMarks()
  }

  /** Drops all audio not played yet. Returns the last passed mark, and the time played since then. */
  clear() {
    for (const { name, at } of this.#leaving.splice(0)) this.#note(name, at)
    const playedMs = ((this.#played - this.#lastMarkAt) * 1000) / this.#toHz
    this.#chunks = []
    this.#offset = 0
    this.#marks = []
    this.#isPlaying = false
    this.#held = 0
    this.#beginAnew()
    return { mark: this.#lastMark, playedMs: Math.max(0, Math.round(playedMs)) }
  }

  /** Fills one block for the device. */
  pull(block) {
    // When the device requests a block, it has already taken the previous block.
    while (this.#leaving.length > 0 && this.#leaving[0].leavesAt <= this.#clock) {
      const { name, at } = this.#leaving.shift()
      this.#note(name, at)
      this.#onPlayed(name)
    }
    this.#clock += block.length
    const filled = this.#mayPlay(block.length) ? this.#take(block) : 0
    block.fill(0, filled)
    this.#passMarks()
  }

  #mayPlay(length) {
    if (this.#isPlaying) return true
    if (this.bufferedMs === 0) return false
    this.#held += length
    this.#isPlaying = this.bufferedMs >= this.holdMs || this.#held > this.#hold
    return this.#isPlaying
  }

  #take(block) {
    let filled = this.#copy(block, 0)
    if (filled < block.length && this.#input > 0) {
      // The resampler still holds the last two milliseconds, so it is flushed.
      this.#queue(this.#resampler.flush())
      this.#base += this.#samplesOfInput()
      this.#input = 0
      filled = this.#copy(block, filled)
    }
    if (filled < block.length) {
      this.#isPlaying = false
      this.#held = 0
      this.#ranDryAt = this.#clock
    }
    return filled
  }

  #copy(block, from) {
    let filled = from
    while (filled < block.length && this.#chunks.length > 0) {
      const [chunk] = this.#chunks
      const part = chunk.subarray(this.#offset, this.#offset + block.length - filled)
      block.set(part, filled)
      filled += part.length
      this.#offset += part.length
      if (this.#offset < chunk.length) break
      this.#chunks.shift()
      this.#offset = 0
    }
    this.#played += filled - from
    return filled
  }

  #queue(samples) {
    if (samples.length > 0) this.#chunks.push(samples.slice())
  }

  /** Makes the delay longer after a gap. If audio arrives soon after the buffer ran empty, the audio was late. */
  #noteGap() {
    const isLate = this.bufferedMs === 0 && this.#clock - this.#ranDryAt < this.#samplesOf(lateMsMost)
    if (isLate) this.#hold = Math.min(this.#hold + this.#samplesOf(holdStepMs), this.#samplesOf(holdMsMost))
    if (isLate) this.#ranDryAt = Number.NEGATIVE_INFINITY
    if (isLate || this.#hold <= this.#samplesOf(holdMsLeast)) this.#calmSince = this.#clock
    if (this.#clock - this.#calmSince < this.#samplesOf(calmMs)) return
    this.#hold -= this.#samplesOf(holdStepMs)
    this.#calmSince = this.#clock
  }

  #passMarks() {
    while (this.#marks.length > 0 && this.#marks[0].at <= this.#played) {
      const { name, at } = this.#marks.shift()
      this.#leaving.push({ name, at, leavesAt: this.#clock + this.#latency })
    }
  }

  #note(name, at) {
    this.#lastMark = name
    this.#lastMarkAt = at
  }

  #beginAnew() {
    this.#resampler.reset()
    this.#base = this.#played
    this.#input = 0
  }

  #samplesOfInput() {
    return Math.ceil((this.#input * this.#toHz) / this.#fromHz)
  }

  #samplesOf(ms) {
    return Math.round((ms * this.#toHz) / 1000)
  }
}

const holdMsLeast = 60
const holdMsMost = 200
const holdStepMs = 20
/** A gap up to this length was caused by a late frame. The agent's pauses are longer. */
const lateMsMost = 400
const calmMs = 10_000
/**
 * The API contract lets a server send audio 400 ms early. Audio beyond this limit is dropped, so the buffer cannot grow
 * forever.
 */
const bufferedMsMax = 5000
