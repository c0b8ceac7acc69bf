/**
 * Finds where speech begins and ends in a stream of probabilities, one for each frame of the VAD.
 *
 *   probability ─ 0.5 ─┐   ┌───────┐ ┌──────┐
 *                0.35 ─┼───┼───────┼─┼──────┼──────────
 *                      └───┘       └─┘      └──────────
 *   state   silence   onset?  speech          end?    silence
 *
 * Speech begins when it has lasted `onsetMs`, and its onset is the start of the first of these frames. A short dip between
 * both thresholds does not interrupt it. Speech ends after `offsetMs` below the lower threshold, and its end is the
 * start of that silence. All times are milliseconds of the stream.
 */
import { vadFrameSamples, vadRateHz } from '../../ports/vad.ts'

export type SpeechDetectorOptions = {
  /** Speech that is shorter is a click. */
  onsetMs: number
  /** Silence that is shorter is a pause between two words. */
  offsetMs: number
}

/** `atMs` is where it happened in the stream; the frame that proved it came later. */
export type SpeechChange = { type: 'onset' | 'offset'; atMs: number }

const vadFrameMs = (vadFrameSamples * 1000) / vadRateHz
/** The thresholds that Silero recommends: speech begins above the first and goes on above the second. */
const beginsAbove = 0.5
const goesOnAbove = 0.35

export class SpeechDetector {
  readonly #options: SpeechDetectorOptions
  #frames = 0
  #speaking = false
  /** The start of speech, or of a silence, that is not long enough yet. */
  #candidateMs: number | null = null
  #lastSpeechMs = 0

  constructor(options: SpeechDetectorOptions) {
    this.#options = options
  }

  get speaking(): boolean {
    return this.#speaking
  }

  /** The end of the last frame of the stream that contained speech. */
  get lastSpeechMs(): number {
    return this.#lastSpeechMs
  }

  /** The length of the stream so far. */
  get nowMs(): number {
    return this.#frames * vadFrameMs
  }

  /** Speech that goes on after this has an onset again. */
  interrupt(): void {
    this.#speaking = false
    this.#candidateMs = null
  }

  frame(probability: number): SpeechChange | null {
    const startMs = this.nowMs
    this.#frames++
    return this.#speaking ? this.#whileSpeaking(probability, startMs) : this.#whileSilent(probability, startMs)
  }

  #whileSilent(probability: number, startMs: number): SpeechChange | null {
    if (probability < goesOnAbove) this.#candidateMs = null
    if (probability < beginsAbove) return null
    this.#candidateMs ??= startMs
    this.#lastSpeechMs = this.nowMs
    if (this.nowMs - this.#candidateMs < this.#options.onsetMs) return null
    return this.#change('onset', this.#candidateMs)
  }

  #whileSpeaking(probability: number, startMs: number): SpeechChange | null {
    if (probability >= goesOnAbove) {
      this.#candidateMs = null
      this.#lastSpeechMs = this.nowMs
      return null
    }
    this.#candidateMs ??= startMs
    if (this.nowMs - this.#candidateMs < this.#options.offsetMs) return null
    return this.#change('offset', this.#candidateMs)
  }

  #change(type: SpeechChange['type'], atMs: number): SpeechChange {
    this.#speaking = type === 'onset'
    this.#candidateMs = null
    return { type, atMs }
  }
}
