/**
 * The phone at a leg's far end: it plays clips, one frame at each `advance`, and reacts to audio, keys and events. A
 * `Behaviour` decides how the phone reacts. This class holds the parts shared by all behaviours.
 */
import { type Clip, frameMs, type Speech } from '../media/clip.ts'
import type { SimulatorClock } from '../media/clock.ts'
import { Pauses } from '../media/pauses.ts'

/** Makes audio clips from texts. Each text is synthesized once and its clip is cached, so all calls share the clip. */
export interface Voice {
  clip(text: string, language: string): Promise<Clip>
}

/** The leg, with only the methods that its far end needs. */
export interface Line {
  /** The leg's id at the carrier. */
  readonly id: string
  hangUp(): void
  press(digit: string): void
  /** Ends the leg's stream, and so the leg, without any message, as if the connection broke. */
  vanish(): void
}

export type Behaviour = {
  /** The texts to be said, in order. They are synthesized in advance, the first text before the phone is answered. */
  readonly texts: readonly string[]
  /** The base language in which the texts are spoken. If absent, English. */
  readonly language?: string
  answered?(phone: FarEnd): void
  /**
   * Called when the other party has spoken and paused. `words` is the recognized text, or empty if the simulator does
   * not recognize speech.
   */
  paused?(phone: FarEnd, words: string): void
  pressed?(phone: FarEnd, digit: string): void
  bridged?(phone: FarEnd): void
}

export type FarEndDeps = {
  clock: SimulatorClock
  voice: Voice
  /** Returns an utterance's recognized words. Null if the simulator does not recognize speech. */
  recognize: ((speech: Speech, legId: string) => Promise<string>) | null
  /** If true, the other party's audio never arrives. */
  losesAudio: boolean
}

type Playing = { clip: Clip; said: (() => void) | null }
/** The maximum number of clips waiting to be played. Later clips would wait longer than any call lasts. */
const waitingClipsMax = 100
const digitMs = 200

export class FarEnd {
  readonly #deps: FarEndDeps
  readonly #behaviour: Behaviour
  readonly #pauses: Pauses
  readonly #timers = new Set<() => void>()
  #line: Line | null = null
  #hasEnded = false
  #waiting: Playing[] = []
  #at = -1
  /** A chain with one promise per text: clips are played in request order, even if a later clip is ready sooner. */
  #order: Promise<unknown> = Promise.resolve()

  constructor(behaviour: Behaviour, deps: FarEndDeps) {
    this.#behaviour = behaviour
    this.#deps = deps
    this.#pauses = new Pauses({ keepsSpeech: deps.recognize !== null && behaviour.paused !== undefined })
  }

  /**
   * Synthesizes the texts. Resolves when the first text is ready. The other texts are synthesized one by one, so the
   * speech engine stays free for other work. Never rejects: if a text fails, it is synthesized again when it is due.
   */
  async prepare(): Promise<void> {
    const [first, ...others] = this.#behaviour.texts
    if (first !== undefined) await this.#clip(first).catch(() => {})
    void this.#prepareAll(others)
  }

  async #prepareAll(texts: readonly string[]): Promise<void> {
    for (const text of texts) if (!this.#hasEnded) await this.#clip(text).catch(() => {})
  }

  #clip(text: string): Promise<Clip> {
    return this.#deps.voice.clip(text, this.#behaviour.language ?? 'en')
  }

  /** The current clip, or null for silence. `at` is the current frame in it. */
  get clip(): Clip | null {
    return this.#at < 0 ? null : (this.#waiting[0]?.clip ?? null)
  }
  get at(): number {
    return this.#at
  }

  answered(line: Line): void {
    this.#line = line
    this.#behaviour.answered?.(this)
  }

  bridged(): void {
    if (this.#line) this.#behaviour.bridged?.(this)
  }

  pressed(digit: string): void {
    if (this.#line) this.#behaviour.pressed?.(this, digit)
  }

  /** Called when the leg is over. Nothing happens afterwards. */
  ended(): void {
    this.#line = null
    this.#hasEnded = true
    this.#waiting = []
    this.#at = -1
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
  }

  /** Advances to the next frame. Called every 20 ms. */
  advance(): void {
    const playing = this.#waiting[0]
    if (!playing) return
    this.#at++
    if (this.#at < playing.clip.frameCount) return
    this.#waiting.shift()
    this.#at = this.#waiting.length > 0 ? 0 : -1
    playing.said?.()
  }

  /** Receives 20 ms from the other party, or null for silence. The samples are valid only during this call. */
  received(samples: Int16Array | null, rateHz: number): void {
    const speech = this.#pauses.frame(this.#deps.losesAudio ? null : samples, rateHz)
    if (speech && this.#behaviour.paused) void this.#paused(speech)
  }

  async #paused(speech: Speech): Promise<void> {
    // If the recognizer fails, the words count as not understood.
    const words = this.#line && (await this.#deps.recognize?.(speech, this.#line.id).catch(() => ''))
    if (this.#line) this.#behaviour.paused?.(this, words ?? '')
  }

  /**
   * Queues a text after all earlier texts. `said` is called when the text was played. Behaviours use this method and
   * the methods below.
   */
  say(text: string, said: (() => void) | null = null): void {
    const clip = this.#clip(text)
    this.#order = this.#order
      .then(() => clip)
      .then(
        (clip) => this.play(clip, said),
        () => said?.(),
      )
  }

  play(clip: Clip, said: (() => void) | null = null): void {
    if (this.#line && this.#waiting.length < waitingClipsMax) this.#waiting.push({ clip, said })
  }

  press(digits: string): void {
    for (const [i, digit] of [...digits].entries()) this.after(i * digitMs, () => this.#line?.press(digit))
  }

  hangUp(): void {
    this.#line?.hangUp()
  }

  vanish(): void {
    this.#line?.vanish()
  }

  /** Calls `run` after this time, unless the leg has ended. The returned function cancels the timer. */
  after(delayMs: number, run: () => void): () => void {
    const cancel = this.#deps.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      run()
    })
    this.#timers.add(cancel)
    return () => {
      this.#timers.delete(cancel)
      cancel()
    }
  }

  get isSaying(): boolean {
    return this.#waiting.length > 0
  }

  /** True while the other party is speaking. */
  get isSpokenTo(): boolean {
    return this.#pauses.isInUtterance
  }

  /** True if the other party has spoken so far. */
  get wasSpokenTo(): boolean {
    return this.#pauses.hasSpoken
  }
}

/** The silence between answering and the first words, because people need a moment to raise the phone. */
export const firstWordsMs = 25 * frameMs
