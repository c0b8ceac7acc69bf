/**
 * The user's turn: its words, its times, and the decision that it is over. The decision waits for the silence that the
 * last words ask for, and then a little for the final transcript.
 *
 *   speech ▁▃▅▃▁___________________________
 *          end ▲         ▲         ▲
 *                        flush     due: the text is final, or it waits at most finalMs
 */
import type { Clock } from '../ports/system.ts'
import type { Pipeline } from '../sessions/pipeline.ts'
import type { StreamTranscript } from '../speech/stt.ts'
import { silenceNeededMs } from './endpointing.ts'
import { replayedMs } from './transcription.ts'
import { sameWords, UserText } from './user-text.ts'

/** The final transcript is asked for this long before the decision is due. */
const flushLeadMs = 150
/** The final transcript may come this much later than the decision was due. */
const finalMs = 1000
/** Speech without a word by then was noise. */
const noWordsMs = 2500
/** A transcript that comes later than this after speech is not one of that speech. */
const lateTranscriptMs = 5000
/** A guess is made when the decision is this near, */
const guessLeadMs = 600
/** and at most this often in a turn. */
const guessesMax = 3

export type UserTurnEvents = {
  decided(): void
  nothingSaid(): void
  /** The text is likely to be that of the turn. */
  guess(text: string): void
  flush(): void
}

export type SaidTurn = { id: string; text: string; startedMs: number; speechEndMs: number; dueMs: number | null }

export class UserTurn {
  readonly #clock: Clock
  readonly #newId: () => string
  readonly #pipeline: Pipeline
  readonly #events: UserTurnEvents
  readonly #text = new UserText()
  #id: string | null = null
  #startedMs: number | null = null
  #speechEndMs: number | null = null
  #hasSpeech = false
  /** When the decision was due at the last look. */
  #dueMs: number | null = null
  #isFlushed = false
  #guessed: string[] = []
  #cancel: (() => void) | null = null

  constructor(deps: { clock: Clock; newId: () => string }, pipeline: Pipeline, events: UserTurnEvents) {
    this.#clock = deps.clock
    this.#newId = deps.newId
    this.#pipeline = pipeline
    this.#events = events
  }

  /** The same for all transcripts of the turn. */
  get id(): string {
    this.#id ??= this.#newId()
    return this.#id
  }

  get text(): string {
    return this.#text.text
  }

  get isFinal(): boolean {
    return this.#text.isFinal
  }

  /** Voice activity detection has found speech in this turn, and not long ago. */
  get hasSpeech(): boolean {
    if (!this.#hasSpeech || this.#speechEndMs === null) return this.#hasSpeech
    return this.#clock.monotonicMs() - this.#speechEndMs < lateTranscriptMs
  }

  /** False: nothing new. */
  add(transcript: StreamTranscript): boolean {
    const isNew = this.#text.add(transcript)
    if (isNew) this.#startedMs ??= this.#clock.monotonicMs()
    return isNew
  }

  /** Another stream of speech to text begins. True: the text so far is forgotten, and the audio of the turn is sent again. */
  reopened(): boolean {
    const sinceMs = this.#startedMs === null ? null : this.#clock.monotonicMs() - this.#startedMs
    if (sinceMs !== null && sinceMs < replayedMs) {
      this.#text.take()
      this.#text.reopened()
      return true
    }
    this.#text.reopened()
    return false
  }

  speechStarted(atMs: number): void {
    this.#startedMs ??= atMs
    this.#speechEndMs = null
    this.#hasSpeech = true
    this.#isFlushed = false
    this.keepListening()
  }

  speechEnded(atMs: number): void {
    this.#speechEndMs = atMs
  }

  /** Decides now or later, with the words that are there. */
  decide(): void {
    this.keepListening()
    const nowMs = this.#clock.monotonicMs()
    this.#speechEndMs ??= nowMs
    const { turnHandling, intent } = this.#pipeline
    const said = { text: this.text, isSpeechFinal: this.#text.isSpeechFinal, language: intent.language }
    const neededMs = silenceNeededMs(turnHandling.turnDetection, turnHandling.endpointing, said)
    const dueMs = this.#speechEndMs + neededMs
    this.#dueMs = dueMs
    if (!this.#flushIfDue(nowMs, dueMs)) return
    if (said.text === '') return this.#waitForWords(nowMs, this.#speechEndMs + Math.max(noWordsMs, neededMs))
    if (nowMs >= dueMs && (this.isFinal || nowMs >= dueMs + finalMs)) return this.#events.decided()
    if (dueMs - nowMs <= guessLeadMs || this.isFinal) this.#guess(said.text)
    const flushMs = dueMs - flushLeadMs
    const nextMs = [flushMs, dueMs, dueMs + finalMs].find((ms) => ms > nowMs) ?? nowMs
    this.#lookAgain(nextMs - nowMs)
  }

  keepListening(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  /** The words, which then belong to a turn. */
  take(): SaidTurn {
    const nowMs = this.#clock.monotonicMs()
    const { id } = this
    const startedMs = this.#startedMs ?? nowMs
    const turn = { id, text: this.#text.take(), startedMs, speechEndMs: this.#speechEndMs ?? nowMs, dueMs: this.#dueMs }
    this.#reset()
    return turn
  }

  /** The words were no turn. */
  drop(): void {
    this.#text.take()
    this.#reset()
  }

  close(): void {
    this.keepListening()
  }

  #reset(): void {
    this.keepListening()
    this.#id = null
    this.#startedMs = null
    this.#hasSpeech = false
    this.#dueMs = null
    this.#isFlushed = false
    this.#guessed = []
  }

  /** False: the flush has brought the transcript at once, and another decision was taken. */
  #flushIfDue(nowMs: number, dueMs: number): boolean {
    if (this.#isFlushed || (this.isFinal && this.text !== '') || nowMs < dueMs - flushLeadMs) return true
    this.#isFlushed = true
    const before = this.text
    this.#events.flush()
    return this.text === before
  }

  #waitForWords(nowMs: number, untilMs: number): void {
    if (nowMs >= untilMs) return this.#events.nothingSaid()
    const { minDelay } = this.#pipeline.turnHandling.endpointing
    const flushMs = (this.#speechEndMs ?? nowMs) + minDelay - flushLeadMs
    this.#lookAgain((flushMs > nowMs ? flushMs : untilMs) - nowMs)
  }

  #lookAgain(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => this.decide())
  }

  #guess(text: string): void {
    const isKnown = this.#guessed.some((guessed) => sameWords(guessed, text))
    if (!this.#pipeline.turnHandling.preemptiveGeneration || isKnown || this.#guessed.length >= guessesMax) return
    this.#guessed.push(text)
    this.#events.guess(text)
  }
}
