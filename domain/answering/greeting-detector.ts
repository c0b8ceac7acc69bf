/**
 * Decides from the far end's first words, and from their duration, if a machine or a person has answered. The first
 * matching rule decides:
 *
 *   a person's question, such as "how can I help" ──► human
 *   a phrase from a mailbox ──► machine
 *   a phrase from a phone menu, or from a phone that screens calls ──► not_sure
 *   a first utterance of `longMs` or more that begins within `promptMs` ──► machine
 *   a first utterance of up to `shortMs`, then `quietMs` without speech ──► human, but not after "you have reached …"
 *
 * Both people and machines use excuses such as "I can't take your call right now" and "I am in a meeting". So after an
 * excuse the detector waits for a pause, because a mailbox phrase may follow. If it does not follow, the result is
 * not_sure.
 */
import type { Clock } from '../ports/system.ts'
import { greetingIn } from './greeting-words.ts'

export type GreetingDetectorDeps = {
  clock: Pick<Clock, 'monotonicMs' | 'after'>
  /** The conversation's language, as BCP 47. */
  language: string
  decided: (result: 'human' | 'machine' | 'not_sure') => void
}

/** If the first utterance is this long, a machine speaks, because people introduce themselves in less time. */
const longMs = 4_000
/**
 * An answering machine begins to speak within this time. A long utterance that begins later may be a person's reply to
 * the agent.
 */
const promptMs = 4_000
/**
 * After this time the detector decides even if the first utterance goes on. It is longer than `longMs`, because a
 * transcript may arrive a second after the speech.
 */
const endlessMs = 6_000
const shortMs = 3_000
/**
 * If silence after a short utterance is this long, a person waits for an answer. A machine pauses less between its
 * sentences.
 */
const quietMs = 1_500
/**
 * A transcript may arrive this long after its utterance. The detector waits for this time, because the transcript may
 * contain a person's question.
 */
const wordsLateMs = 1_000
/** Silence shorter than this does not end an utterance. */
const pauseMs = 500
/** If an utterance has fewer words than this, its duration is not used for the decision. */
const wordsMin = 6

const verdicts = { person: 'human', voicemail: 'machine', conversing: 'not_sure' } as const

export class GreetingDetector {
  readonly #deps: GreetingDetectorDeps
  readonly #beginMs: number
  #finals = ''
  #text = ''
  #startMs: number | null = null
  #endMs = 0
  /** The first utterance's length. Null until it is over. */
  #firstMs: number | null = null
  #cancelEndless = () => {}
  #cancelPause = () => {}
  #cancelLate = () => {}
  #cancelQuiet = () => {}
  /** True if the first utterance was short, and silence followed. Its transcript may still arrive. */
  #isShort = false
  /** True if silence followed the first utterance. */
  #isQuiet = false
  /** True if both machines and people say these words. */
  #isAmbiguous = false
  #isExcuse = false

  constructor(deps: GreetingDetectorDeps) {
    this.#deps = deps
    this.#beginMs = deps.clock.monotonicMs()
  }

  /** Called when speech begins. `atMs` is the time in the audio, which a busy server reads late. */
  onset(atMs: number): void {
    const { clock } = this.#deps
    this.#cancelPause()
    this.#cancelQuiet()
    if (this.#startMs !== null) return
    this.#startMs = atMs
    this.#cancelEndless = clock.after(endlessMs, () => {
      if (!this.#isExcuse) this.#long()
    })
  }

  offset(atMs: number): void {
    const { clock } = this.#deps
    this.#endMs = atMs
    this.#cancelPause()
    this.#cancelQuiet()
    this.#cancelPause = clock.after(pauseMs, () => this.#paused())
    this.#cancelQuiet = clock.after(quietMs, () => this.#quiet())
  }

  /** Receives the transcript since the last final text. */
  words(text: string, isFinal: boolean): void {
    this.#text = `${this.#finals} ${text}`
    if (isFinal) this.#finals = this.#text.slice(-textMax)
    const greeting = greetingIn(this.#text, this.#deps.language)
    this.#isAmbiguous = greeting === 'ambiguous'
    this.#isExcuse = greeting === 'excuse' || greeting === 'busy'
    if (greeting === 'person' || greeting === 'voicemail' || greeting === 'conversing')
      return this.#deps.decided(verdicts[greeting])
    this.#greeted()
  }

  close(): void {
    this.#cancelEndless()
    this.#cancelPause()
    this.#cancelLate()
    this.#cancelQuiet()
  }

  #long(): void {
    if (this.#startMs !== null && this.#startMs - this.#beginMs > promptMs) return
    if (this.#text.trim().split(/\s+/).length >= wordsMin) this.#deps.decided(this.#isExcuse ? 'not_sure' : 'machine')
  }

  #paused(): void {
    this.#cancelEndless()
    if (this.#firstMs !== null) return
    this.#firstMs = this.#endMs - (this.#startMs ?? this.#endMs)
    if (this.#firstMs >= longMs) this.#cancelLate = this.#deps.clock.after(wordsLateMs, () => this.#long())
  }

  #quiet(): void {
    this.#isQuiet = true
    this.#isShort ||= this.#firstMs !== null && this.#firstMs <= shortMs
    this.#greeted()
  }

  #greeted(): void {
    if (this.#text.trim() === '') return
    if (this.#isExcuse && this.#isQuiet) return this.#deps.decided('not_sure')
    if (this.#isShort && !this.#isExcuse && !this.#isAmbiguous) this.#deps.decided('human')
  }
}

/** Only this many characters at the text's end are kept. All phrases are shorter. */
const textMax = 1_000
