/**
 * Sorts a phone leg's packets (8 kHz) by their timestamps, and returns a 20 ms frame at each tick.
 *
 *   given ── next ▒▒▒▒▒▒▒▒ lost ▒▒▒▒▒ end
 *                 └───── level ──────┘
 *
 * The delay adapts. If no packet has arrived in time, the tick returns concealment audio and the buffer waits, so the
 * delay grows by 20 ms. If the buffer held more than it needed for five seconds, one tick returns two frames, so no
 * speech is dropped. This also compensates for a sender's clock that runs faster or slower than ours.
 */
import { LossConcealment } from './loss-concealment.ts'

/** A frame's length: 20 ms, in samples. */
const frameSamples = 160
const samplesOfMs = 8
/**
 * The buffer's length: one second, in samples. If a packet's timestamp is further away from the last packet's, the
 * sender has restarted its timestamps.
 */
const ringSamples = 8000
/**
 * 200 ms, in samples. If more is buffered, the tick returns an extra frame. If no extra frame is allowed now, the
 * excess is dropped.
 */
const levelMax = 1600
/** The number of ticks between the first packet and the first returned frame. */
const startTicks = 2
const windowTicks = 250
/** If at least this much was always buffered, a tick returns an extra frame. Then 10 ms remain for jitter. */
const surplusMin = frameSamples + 80
/**
 * The maximum number of extra frames. One more is allowed each `aheadTicks`, so a sender's clock may be up to 2 ‰
 * faster than ours.
 */
const aheadFramesMax = 50
const aheadTicks = 500

export type JitterFigures = { late: number; lost: number; waits: number; dropped: number }

export class JitterBuffer {
  /** `late` counts packets, `lost` and `dropped` count samples, `waits` counts ticks. */
  readonly figures: JitterFigures = { late: 0, lost: 0, waits: 0, dropped: 0 }
  readonly #samples = new Int16Array(ringSamples)
  readonly #isThere = new Uint8Array(ringSamples)
  readonly #frame = new Int16Array(frameSamples)
  readonly #concealment = new LossConcealment()
  /** Positions are timestamps without wrap-around. */
  #next = 0
  #end = 0
  #hasBegun = false
  #startsIn = 0
  #lowest = ringSamples
  #ticks = 0
  #aheadFrames = aheadFramesMax

  /** Adds a packet. `timestamp` has 32 bits and counts samples. The samples are copied. */
  push(timestamp: number, samples: Int16Array): void {
    const distance = (timestamp - (this.#end >>> 0)) | 0
    if (!this.#hasBegun || Math.abs(distance) > ringSamples) this.#begin(timestamp)
    const from = this.#end + ((timestamp - (this.#end >>> 0)) | 0)
    const end = from + samples.length
    if (from < this.#next) this.figures.late++
    if (end <= this.#next) return
    if (end - this.#next > ringSamples) this.#drop(end - this.#next - levelMax)
    for (let at = Math.max(from, this.#next); at < end; at++) {
      this.#samples[at % ringSamples] = samples[at - from] ?? 0
      this.#isThere[at % ringSamples] = 1
    }
    this.#end = Math.max(this.#end, end)
  }

  /** Forgets earlier packets, because the sender has restarted its timestamps. */
  restart(): void {
    this.#hasBegun = false
  }

  /** Passes the next audio to `take`: 160 samples, once or twice. Must be called every 20 ms. The array is reused. */
  tick(take: (frame: Int16Array) => void): void {
    this.#refill()
    if (this.#startsIn > 0) this.#startsIn--
    if (!this.#hasBegun || this.#startsIn > 0) return take(this.#conceal())
    if (this.#level < frameSamples) {
      this.figures.waits++
      this.#lowest = 0
      return take(this.#conceal())
    }
    take(this.#read())
    this.#lowest = Math.min(this.#lowest, this.#level)
    if (this.#level > levelMax || this.#hasSurplus()) this.#catchUp(take)
  }

  /** Returns how long a packet arriving now would wait in the buffer. */
  get delayMs(): number {
    return Math.max(0, this.#level) / samplesOfMs
  }

  get #level(): number {
    return this.#end - this.#next
  }

  #refill(): void {
    this.#ticks++
    if (this.#ticks % aheadTicks === 0) this.#aheadFrames = Math.min(aheadFramesMax, this.#aheadFrames + 1)
  }

  #hasSurplus(): boolean {
    if (this.#ticks % windowTicks !== 0) return false
    const hasSurplus = this.#lowest >= surplusMin
    this.#lowest = ringSamples
    return hasSurplus
  }

  #catchUp(take: (frame: Int16Array) => void): void {
    if (this.#aheadFrames > 0) {
      this.#aheadFrames--
      return take(this.#read())
    }
    if (this.#level > levelMax) this.#drop(this.#level - levelMax)
  }

  #begin(timestamp: number): void {
    this.#isThere.fill(0)
    this.#hasBegun = true
    this.#startsIn = startTicks
    this.#next = this.#end = timestamp
    this.#lowest = ringSamples
  }

  #drop(count: number): void {
    this.figures.dropped += count
    for (let at = 0; at < Math.min(count, ringSamples); at++) this.#isThere[(this.#next + at) % ringSamples] = 0
    this.#next += count
    this.#end = Math.max(this.#end, this.#next)
  }

  #read(): Int16Array {
    for (let at = 0; at < frameSamples; at++) {
      const place = (this.#next + at) % ringSamples
      if (this.#isThere[place] === 1) {
        this.#frame[at] = this.#samples[place]!
        this.#concealment.remember(this.#samples[place]!)
      } else {
        this.figures.lost++
        this.#frame[at] = this.#concealment.next()
      }
      this.#isThere[place] = 0
    }
    this.#next += frameSamples
    return this.#frame
  }

  #conceal(): Int16Array {
    for (let at = 0; at < frameSamples; at++) this.#frame[at] = this.#concealment.next()
    return this.#frame
  }
}
