/** Mixes a clip, such as background sound, into frames. The clip repeats. */

export class RepeatingClip {
  readonly #clip: Int16Array
  readonly #volume: number
  #at = 0

  /** `volume` is from 0 to 1. */
  constructor(clip: Int16Array, volume: number) {
    this.#clip = clip
    this.#volume = volume
  }

  /** Adds the clip's next samples to `samples`. Allocates nothing. Sums beyond 16 bits are clipped. */
  mixInto(samples: Int16Array): void {
    const clip = this.#clip
    let at = this.#at
    for (let i = 0; i < samples.length; i++) {
      const sum = samples[i]! + this.#volume * clip[at]!
      samples[i] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : sum
      if (++at === clip.length) at = 0
    }
    this.#at = at
  }
}
