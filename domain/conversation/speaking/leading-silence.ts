/**
 * Removes the silence at a turn's start: 140 to 180 ms with the embedded voice. Otherwise the user would wait for this
 * silence, and a latency measured to the first sample would look shorter than the real wait.
 */

/**
 * Samples below this level are silence: -44 dB full scale. Clicks and breaths at the start of the embedded voice reach
 * 110.
 */
const silenceBelow = 200
/** Keeps this much before the first sound, so that a soft start is not cut. */
const leadMs = 5
/**
 * The maximum leading silence that is removed. After this time all audio is played, because the voice may be silent
 * throughout.
 */
const silenceMsMax = 1000

export class LeadingSilence {
  readonly #samplesPerMs: number
  #silent = 0
  #isOver = false
  /** The last `leadMs` in the silence so far. They are played if sound follows. */
  #buffered = new Int16Array(0)
  #received = 0
  #removed = 0

  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000
  }

  /** Returns the number of removed samples. The number is final after the first sound. */
  get removed(): number {
    return this.#removed
  }

  /** Returns the samples to be played, without leading silence. The calling code may keep the returned array. */
  after(samples: Int16Array): Int16Array {
    if (this.#isOver) return samples
    this.#received += samples.length
    const first = samples.findIndex((sample) => Math.abs(sample) >= silenceBelow)
    const silent = first < 0 ? samples.length : first
    this.#silent += silent
    this.#isOver = first >= 0 || this.#silent > silenceMsMax * this.#samplesPerMs
    const lead = joined(this.#buffered, samples.subarray(0, silent))
    this.#buffered = lead.slice(Math.max(0, lead.length - leadMs * this.#samplesPerMs))
    if (!this.#isOver) return nothing
    const played = joined(this.#buffered, samples.subarray(silent))
    this.#removed = this.#received - played.length
    return played
  }
}

const nothing = new Int16Array(0)

function joined(first: Int16Array, second: Int16Array): Int16Array {
  const both = new Int16Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}
