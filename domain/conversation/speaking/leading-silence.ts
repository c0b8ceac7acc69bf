/**
 * Voices begin with silence: 140 to 180 ms with the embedded one. The user would wait for it, and a latency that ends at
 * the first sample would be shorter than the silence that the user notices. So a turn begins with its first sound.
 */

/** Quieter samples are silence: -44 dB of full scale. Clicks and breaths in front of the embedded voice reach 110. */
const silenceBelow = 200
/** This much before the first sound is kept, so that a soft beginning is not cut. */
const keptMs = 5
/** Silence after this much of it is played, because no sound may ever come. */
const silenceMsMax = 1000

export class LeadingSilence {
  readonly #samplesPerMs: number
  #silent = 0
  #isOver = false
  /** The end of the silence so far, which is played if sound follows. */
  #kept = new Int16Array(0)
  #received = 0
  #removed = 0

  constructor(rateHz: number) {
    this.#samplesPerMs = rateHz / 1000
  }

  /** The samples that were left out, once sound has come. */
  get removed(): number {
    return this.#removed
  }

  /** The part of these samples that is played. They may be kept. */
  after(samples: Int16Array): Int16Array {
    if (this.#isOver) return samples
    this.#received += samples.length
    const first = samples.findIndex((sample) => Math.abs(sample) >= silenceBelow)
    const silent = first < 0 ? samples.length : first
    this.#silent += silent
    this.#isOver = first >= 0 || this.#silent > silenceMsMax * this.#samplesPerMs
    const lead = joined(this.#kept, samples.subarray(0, silent))
    this.#kept = lead.slice(Math.max(0, lead.length - keptMs * this.#samplesPerMs))
    if (!this.#isOver) return nothing
    const played = joined(this.#kept, samples.subarray(silent))
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
