/**
 * Finds the start and end of speech from the VAD's probabilities, one per frame.
 *
 *   probability ─ 0.5 ─┐   ┌───────┐ ┌──────┐
 *                0.35 ─┼───┼───────┼─┼──────┼──────────
 *                      └───┘       └─┘      └──────────
 *   state   silence   onset?  speech          end?    silence
 *
 * Speech begins when it has lasted `onsetMs`. Its onset is the first frame's start. A short dip between both thresholds
 * does not interrupt it. Speech ends after `offsetMs` below the lower threshold, and its end is where this silence
 * starts. All times are milliseconds in the stream.
 */
import { vadFrameSamples, vadRateHz } from '../../ports/vad.ts'

export type SpeechDetectorOptions = {
  /** Speech counts only if it lasts this long. Shorter speech is a click. */
  onsetMs: number
  /** Silence ends speech only if it lasts this long. Shorter silence is a pause between two words. */
  offsetMs: number
}

/**
 * A start or an end of speech. `atMs` is its position in the stream. It is earlier than the frame with the detection.
 */
export type SpeechChange = { type: 'onset' | 'offset'; atMs: number }

const vadFrameMs = (vadFrameSamples * 1000) / vadRateHz
/** The thresholds that Silero recommends. Speech begins above the first and goes on above the second. */
const beginsAbove = 0.5
const goesOnAbove = 0.35

export class SpeechDetector {
  readonly #options: SpeechDetectorOptions
  #frames = 0
  #speaking = false
  /** The position where possible new speech or silence started, while it is still too short to count. */
  #candidateMs: number | null = null
  #lastSpeechMs = 0

  constructor(options: SpeechDetectorOptions) {
    this.#options = options
  }

  get speaking(): boolean {
    return this.#speaking
  }

  /** Returns the position in the stream where the last frame with speech ends. */
  get lastSpeechMs(): number {
    return this.#lastSpeechMs
  }

  /** Returns the stream's length so far. */
  get nowMs(): number {
    return this.#frames * vadFrameMs
  }

  /** Ends the current speech without reporting its end. If speech continues, a new onset is reported. */
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
