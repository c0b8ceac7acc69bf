/**
 * Finds a single tone, such as a mailbox beep, in a sample stream. Each 32 ms block is tested separately:
 *
 *   block ─► loud enough? ─► frequency by zero crossings ─► Goertzel: does nearly all energy have this frequency?
 *
 * Successive blocks in a tone have the same frequency, but a voice's harmonics change. Nothing is allocated after the
 * constructor.
 */

export type ToneEvents = {
  /** Called when a tone has lasted `toneMs`. */
  began(): void
  /** Called when the tone is over. */
  ended(): void
}

const blockMs = 32
/** A tone shorter than this is part of a voice or a DTMF key. */
const toneMs = 200
const lowestHz = 400
const highestHz = 2000
/** A block quieter than this counts as silence: -44 dB full scale. */
const quietest = 200
/**
 * A tone has at least this share of a block's energy in one frequency. With line noise at -20 dB a tone still has 0.99.
 */
const pureShare = 0.8
/** The largest frequency difference between successive blocks in a tone, as a fraction. */
const driftShare = 0.03

export class ToneDetector {
  readonly #rateHz: number
  readonly #events: ToneEvents
  readonly #block: Float64Array
  #filled = 0
  #hz = 0
  /** The current tone's length so far, in blocks. */
  #blocks = 0
  #isTone = false

  constructor(rateHz: number, events: ToneEvents) {
    this.#rateHz = rateHz
    this.#events = events
    this.#block = new Float64Array((rateHz * blockMs) / 1000)
  }

  /** Examines samples. They are read only during the call. */
  push(samples: Int16Array): void {
    for (const sample of samples) {
      this.#block[this.#filled++] = sample
      if (this.#filled < this.#block.length) continue
      this.#filled = 0
      this.#judge()
    }
  }

  #judge(): void {
    const hz = this.#frequency()
    const goesOn = hz > 0 && Math.abs(hz - this.#hz) <= driftShare * this.#hz
    if (!goesOn) this.#end()
    if (hz > 0 && !goesOn) this.#hz = hz
    if (hz > 0) this.#blocks++
    if (this.#isTone || this.#blocks * blockMs < toneMs) return
    this.#isTone = true
    this.#events.began()
  }

  #end(): void {
    this.#hz = this.#blocks = 0
    if (!this.#isTone) return
    this.#isTone = false
    this.#events.ended()
  }

  /** Returns the block's frequency in Hz; 0 if the block is not a tone. */
  #frequency(): number {
    const block = this.#block
    let energy = 0
    for (const value of block) energy += value * value
    if (energy < quietest * quietest * block.length) return 0
    const hz = this.#crossingsHz()
    if (hz < lowestHz || hz > highestHz) return 0
    return goertzel(block, hz / this.#rateHz) >= pureShare * energy * (block.length / 2) ? hz : 0
  }

  /** Returns the rate of upward zero crossings between the first and the last crossing, in Hz. */
  #crossingsHz(): number {
    const block = this.#block
    let count = 0
    let first = 0
    let last = 0
    for (let at = 1; at < block.length; at++) {
      const before = block[at - 1] as number
      const value = block[at] as number
      if (before >= 0 || value < 0) continue
      last = at - value / (value - before)
      if (count++ === 0) first = last
    }
    return count < 2 ? 0 : ((count - 1) * this.#rateHz) / (last - first)
  }
}

/**
 * Returns the energy at one frequency. `turns` is the frequency in cycles per sample. For a tone it is the block's
 * energy times half the block's length.
 */
function goertzel(block: Float64Array, turns: number): number {
  const factor = 2 * Math.cos(2 * Math.PI * turns)
  let one = 0
  let two = 0
  for (const value of block) {
    const next = value + factor * one - two
    two = one
    one = next
  }
  return one * one + two * two - factor * one * two
}
