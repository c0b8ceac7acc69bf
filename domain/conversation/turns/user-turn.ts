/**
 * The user's turn: its words, its times, and the decision that it is over. The decision waits for a silence, whose
 * length depends on the last words, and then a little for the final transcript.
 *
 *   speech ▁▃▅▃▁___________________________
 *          end ▲         ▲         ▲
 *                        flush     due: the text is final, or it waits at most finalMs
 */
import type { StreamTranscript } from '../../ports/stt.ts'
import type { Clock } from '../../ports/system.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Said } from '../hearing/listening.ts'
import type { Transcription } from '../hearing/transcription.ts'
import { silenceNeededMs } from '../words/endpointing.ts'
import { callersLanguage } from '../words/languages/languages.ts'
import { sameWords, type UserText } from '../words/user-text.ts'

/** Requests the final transcript this long before the decision is due. */
const flushLeadMs = 150
/** Waits this long for the final transcript, counted from the decision's due time or from the last words. */
const finalMs = 1000
/** If the last transcript ends within this time before the speech's end, no words are missing. */
const wordlessMs = 800
/** If speech has no words after this time, it was noise. */
const noWordsMs = 2500
/** If words begin later than this after the detected speech, they do not belong to it. */
const afterSpeechMs = 1000
/** An answer is begun early if the text is final, or if the decision is due within this time. */
const guessLeadMs = 600
/** The maximum number of early answers in one turn. */
const guessesMax = 3

export type UserTurnEvents = {
  decided(): void
  /** Called when speech had no words. `spokenMs` is its length. */
  nothingSaid(spokenMs: number): void
  /** Called when `text` is probably the turn's final text, so an answer can begin early. */
  guess(text: string): void
  flush(): void
}

export type SaidTurn = { id: string; text: string; startedMs: number; speechEndMs: number; dueMs: number | null }

export class UserTurn {
  readonly #clock: Clock
  readonly #transcription: Pick<Transcription, 'readyMs'>
  readonly #newId: () => string
  readonly #pipeline: Pipeline
  readonly #events: UserTurnEvents
  readonly #text: UserText
  #id: string | null = null
  #onsetMs: number | null = null
  #speechEndMs: number | null = null
  #hasSpeech = false
  /** The times at which the last words were said and at which their transcript arrived. */
  #wordsEndMs: number | null = null
  #wordsCameMs: number | null = null
  /** The audio has been transcribed up to this time. */
  #readToMs: number | null = null
  /** The time at which the last turn's speech ended. */
  #lastTurnEndMs = Number.NEGATIVE_INFINITY
  /** When the decision that the turn is over is due, as last computed. */
  #dueMs: number | null = null
  #isFlushed = false
  #guessed: string[] = []
  #cancel: (() => void) | null = null

  constructor(
    deps: { clock: Clock; newId: () => string; transcription: Pick<Transcription, 'readyMs' | 'text'> },
    pipeline: Pipeline,
    events: UserTurnEvents,
  ) {
    this.#clock = deps.clock
    this.#transcription = deps.transcription
    this.#text = deps.transcription.text
    this.#newId = deps.newId
    this.#pipeline = pipeline
    this.#events = events
  }

  /** Returns the turn's id. It is the same for each transcript in the turn. */
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

  /** Returns true if voice activity detection found speech at the time of these words. */
  isSpeech({ startMs }: Said): boolean {
    if (startMs < this.#lastTurnEndMs) return true
    return this.#hasSpeech && (this.#speechEndMs === null || startMs < this.#speechEndMs + afterSpeechMs)
  }

  /** Adds a transcript. Returns false if it adds nothing new. */
  add(transcript: StreamTranscript, said: Said): boolean {
    const before = this.text
    this.#readToMs = Math.max(said.endMs, this.#readToMs ?? said.endMs)
    if (!this.#text.add(transcript)) return false
    this.#text.begin(said.startMs)
    // The end time of a final transcript with the same words may include the silence after them, so it is ignored.
    if (sameWords(before, this.text)) return true
    this.#wordsEndMs = Math.max(said.endMs, this.#wordsEndMs ?? said.endMs)
    this.#wordsCameMs = this.#clock.monotonicMs()
    return true
  }

  startSpeech(atMs: number): void {
    this.#text.begin(atMs)
    this.#onsetMs = atMs
    this.#speechEndMs = null
    this.#hasSpeech = true
    this.#isFlushed = false
    this.keepListening()
  }

  endSpeech(atMs: number): void {
    this.#speechEndMs = atMs
  }

  /** Decides whether the turn is over, now or later, from the words so far. */
  decide(): void {
    this.keepListening()
    const nowMs = this.#clock.monotonicMs()
    const { turnHandling } = this.#pipeline
    const said = { text: this.text, isSpeechFinal: this.#text.isSpeechFinal, language: callersLanguage(this.#pipeline) }
    const neededMs = silenceNeededMs(turnHandling.turnDetection, turnHandling.endpointing, said)
    const dueMs = this.#silentSinceMs(nowMs) + neededMs
    this.#dueMs = dueMs
    if (!this.#flushIfDue(nowMs, dueMs)) return
    if (said.text === '') return this.#waitForWords(nowMs, this.#silentSinceMs(nowMs) + Math.max(noWordsMs, neededMs))
    const lastMs = this.#lastMs(dueMs)
    if (nowMs >= dueMs && (nowMs >= lastMs || (this.isFinal && !this.#isBehind()))) return this.#events.decided()
    if (dueMs - nowMs <= guessLeadMs || this.isFinal) this.#guess(said.text)
    const looksMs = [dueMs - guessLeadMs, dueMs - flushLeadMs, dueMs, lastMs]
    const nextMs = looksMs.find((ms) => ms > nowMs) ?? nowMs
    this.#lookAgain(nextMs - nowMs)
  }

  keepListening(): void {
    this.#cancel?.()
    this.#cancel = null
  }

  /** Returns the words as a finished turn, and begins a new turn. */
  take(): SaidTurn {
    const nowMs = this.#clock.monotonicMs()
    const { id } = this
    const startedMs = this.#text.startedMs ?? nowMs
    const speechEndMs = this.#speechEndMs ?? this.#wordsEndMs ?? nowMs
    const turn = { id, text: this.#text.take(), startedMs, speechEndMs, dueMs: this.#dueMs }
    if (this.#hasSpeech) this.#lastTurnEndMs = speechEndMs
    this.#reset()
    return turn
  }

  /** Drops the words, because they do not form a turn by the user. */
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
    this.#onsetMs = null
    this.#speechEndMs = null
    this.#hasSpeech = false
    this.#wordsEndMs = null
    this.#wordsCameMs = null
    this.#readToMs = null
    this.#dueMs = null
    this.#isFlushed = false
    this.#guessed = []
  }

  /**
   * Returns the time at which the user's silence began. Words without detected speech were too quiet, so their silence
   * begins at their transcript's arrival.
   */
  #silentSinceMs(nowMs: number): number {
    return this.#speechEndMs ?? this.#wordsCameMs ?? nowMs
  }

  /** Returns the length of the last stretch of speech. */
  get #spokenMs(): number {
    return this.#onsetMs === null || this.#speechEndMs === null ? 0 : this.#speechEndMs - this.#onsetMs
  }

  /** Returns true if the transcripts do not reach the speech's end yet. */
  #isBehind(): boolean {
    if (this.#onsetMs === null || this.#speechEndMs === null || this.#readToMs === null) return false
    return this.#readToMs < Math.max(this.#onsetMs, this.#speechEndMs - wordlessMs)
  }

  /** Returns the latest time for the decision, with the words so far. */
  #lastMs(dueMs: number): number {
    return finalMs + Math.max(dueMs, this.#wordsCameMs ?? dueMs)
  }

  /**
   * Flushes the transcription if the decision is near. Returns false if the transcript arrived at once, because the
   * decision was then already made from it.
   */
  #flushIfDue(nowMs: number, dueMs: number): boolean {
    if (this.#isFlushed || (this.isFinal && this.text !== '') || nowMs < dueMs - flushLeadMs) return true
    this.#isFlushed = true
    const before = this.text
    this.#events.flush()
    return this.text === before
  }

  /**
   * Waits for the transcript of the detected speech. A stream that is still opening receives the speech later, so its
   * waiting time begins at its opening.
   */
  #waitForWords(nowMs: number, silentMs: number): void {
    const untilMs = Math.max(silentMs, (this.#transcription.readyMs ?? nowMs) + noWordsMs)
    if (nowMs >= untilMs) return this.#events.nothingSaid(this.#spokenMs)
    const { minDelay } = this.#pipeline.turnHandling.endpointing
    const flushMs = this.#silentSinceMs(nowMs) + minDelay - flushLeadMs
    this.#lookAgain((flushMs > nowMs ? flushMs : untilMs) - nowMs)
  }

  #lookAgain(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => this.decide())
  }

  #guess(text: string): void {
    const isRepeated = this.#guessed.some((guessed) => sameWords(guessed, text))
    if (!this.#pipeline.turnHandling.preemptiveGeneration || isRepeated || this.#guessed.length >= guessesMax) return
    this.#guessed.push(text)
    this.#events.guess(text)
  }
}
