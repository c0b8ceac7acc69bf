/** Detects when the other party on a line stops speaking, by its audio level. */
import { frameMs, type Speech } from './clip.ts'

/**
 * Audio louder than this is speech. The value is a mean sample magnitude: background noise at -38 dB full scale is
 * quieter, speech at -20 dB is louder.
 */
const speechLevel = 800
/** A sound shorter than this does not count as speech: an agent makes such a sound if it is interrupted at once. */
const speechMs = 200
/** An utterance ends after this pause. Pauses between sentences within one turn are shorter. */
const pauseMs = 900
/** An utterance longer than this is truncated to this length. */
const utteranceMsMax = 15_000

export class Pauses {
  readonly #keepsSpeech: boolean
  #speakingMs = 0
  #quietMs = 0
  #frames: Int16Array[] = []
  #rateHz = 8000
  #utterances = 0

  constructor({ keepsSpeech }: { keepsSpeech: boolean }) {
    this.#keepsSpeech = keepsSpeech
  }

  /** True if the party is speaking, or is in a pause too short to end the utterance. */
  get isInUtterance(): boolean {
    return this.#speakingMs >= speechMs
  }

  /** True if the party has spoken so far. */
  get hasSpoken(): boolean {
    return this.#utterances > 0 || this.isInUtterance
  }

  /**
   * Reads 20 ms, or null for silence. Returns an utterance when the pause after it is long enough. The utterance's
   * samples are empty unless `keepsSpeech` was set.
   */
  frame(samples: Int16Array | null, rateHz: number): Speech | null {
    const isSpeech = samples !== null && levelOf(samples) >= speechLevel
    if (!isSpeech && this.#speakingMs === 0) return null
    if (samples && this.#keepsSpeech && this.#frames.length * frameMs < utteranceMsMax)
      this.#frames.push(samples.slice())
    this.#rateHz = rateHz
    this.#quietMs = isSpeech ? 0 : this.#quietMs + frameMs
    if (isSpeech) this.#speakingMs += frameMs
    return this.#quietMs >= pauseMs ? this.#end() : null
  }

  #end(): Speech | null {
    const isUtterance = this.isInUtterance
    if (isUtterance) this.#utterances++
    const speech = { samples: joined(this.#frames), sampleRateHz: this.#rateHz }
    this.#frames = []
    this.#speakingMs = 0
    this.#quietMs = 0
    return isUtterance ? speech : null
  }
}

function levelOf(samples: Int16Array): number {
  let sum = 0
  for (let at = 0; at < samples.length; at++) sum += Math.abs(samples[at] as number)
  return samples.length === 0 ? 0 : sum / samples.length
}

function joined(frames: readonly Int16Array[]): Int16Array {
  const samples = new Int16Array(frames.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const frame of frames) {
    samples.set(frame, at)
    at += frame.length
  }
  return samples
}
