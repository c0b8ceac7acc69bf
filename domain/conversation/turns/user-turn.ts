/**
 * The user's turn: its words, its times, and the decision that it is over. The decision waits for the silence that the
 * last words ask for, and then a little for the final transcript.
 *
 *   speech ▁▃▅▃▁___________________________
 *          end ▲         ▲         ▲
 *                        flush     due: the text is final, or it waits at most finalMs
 */
import type { StreamTranscript } from '../../ports/stt.ts'
import type { Clock } from '../../ports/system.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { Said } from '../hearing/listening.ts'
import { replayedMs, type Transcription } from '../hearing/transcription.ts'
import { silenceNeededMs } from '../words/endpointing.ts'
import { sameWords, UserText } from '../words/user-text.ts'

/** The final transcript is asked for this long before the decision is due. */
const flushLeadMs = 150
/** The final transcript may come this much later than the decision was due, or than the last words. */
const finalMs = 1000
/** The last transcript may end this much before the speech does. */
const wordlessMs = 800
/** Speech without a word by then was noise. */
const noWordsMs = 2500
/** Words that begin later than this after speech are not words of that speech. */
const afterSpeechMs = 1000
/** A guess is made when the decision is this near, */
const guessLeadMs = 600
/** and at most this often in a turn. */
const guessesMax = 3

export type UserTurnEvents = {
  decided(): void
  /** Speech of this length had no words. */
  nothingSaid(spokenMs: number): void
  /** The text is likely to be that of the turn. */
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
  readonly #text = new UserText()
  #id: string | null = null
  #startedMs: number | null = null
  #onsetMs: number | null = null
  #speechEndMs: number | null = null
  #hasSpeech = false
  /** When the last words were said, and when their transcript came. */
  #wordsEndMs: number | null = null
  #wordsCameMs: number | null = null
  /** The end of the audio that any transcript has covered. */
  #readToMs: number | null = null
  /** The end of the speech of the last turn. */
  #takenEndMs = Number.NEGATIVE_INFINITY
  /** When the decision was due at the last look. */
  #dueMs: number | null = null
  #isFlushed = false
  #guessed: string[] = []
  #cancel: (() => void) | null = null

  constructor(
    deps: { clock: Clock; newId: () => string; transcription: Pick<Transcription, 'readyMs'> },
    pipeline: Pipeline,
    events: UserTurnEvents,
  ) {
    this.#clock = deps.clock
    this.#transcription = deps.transcription
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

  /** Voice activity detection has found speech where these words were said. */
  isSpeech({ startMs }: Said): boolean {
    if (startMs < this.#takenEndMs) return true
    return this.#hasSpeech && (this.#speechEndMs === null || startMs < this.#speechEndMs + afterSpeechMs)
  }

  /** False: nothing new. */
  add(transcript: StreamTranscript, said: Said): boolean {
    const before = this.text
    this.#readToMs = Math.max(said.endMs, this.#readToMs ?? said.endMs)
    if (!this.#text.add(transcript)) return false
    this.#startedMs ??= said.startMs
    // A final of the same words may include the silence after them.
    if (sameWords(before, this.text)) return true
    this.#wordsEndMs = Math.max(said.endMs, this.#wordsEndMs ?? said.endMs)
    this.#wordsCameMs = this.#clock.monotonicMs()
    return true
  }

  /** Another stream of speech to text begins. True: the text so far is forgotten, and the audio of the turn is sent again. */
  reopened(): boolean {
    const startedMs = this.#startedMs ?? this.#clock.monotonicMs()
    if (this.#clock.monotonicMs() - startedMs < replayedMs) {
      this.#text.take()
      this.#text.reopened()
      return true
    }
    this.#text.reopened()
    return false
  }

  speechStarted(atMs: number): void {
    this.#startedMs ??= atMs
    this.#onsetMs = atMs
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
    const { turnHandling, intent } = this.#pipeline
    const said = { text: this.text, isSpeechFinal: this.#text.isSpeechFinal, language: intent.language }
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

  /** The words, which then belong to a turn. */
  take(): SaidTurn {
    const nowMs = this.#clock.monotonicMs()
    const { id } = this
    const startedMs = this.#startedMs ?? nowMs
    const speechEndMs = this.#speechEndMs ?? this.#wordsEndMs ?? nowMs
    const turn = { id, text: this.#text.take(), startedMs, speechEndMs, dueMs: this.#dueMs }
    if (this.#hasSpeech) this.#takenEndMs = speechEndMs
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

  /** Words without speech were too quiet to be found: the silence after them begins when they came. */
  #silentSinceMs(nowMs: number): number {
    return this.#speechEndMs ?? this.#wordsCameMs ?? nowMs
  }

  /** The last stretch of speech. */
  get #spokenMs(): number {
    return this.#onsetMs === null || this.#speechEndMs === null ? 0 : this.#speechEndMs - this.#onsetMs
  }

  /** Speech to text has not reached the end of the speech yet. */
  #isBehind(): boolean {
    if (this.#onsetMs === null || this.#speechEndMs === null || this.#readToMs === null) return false
    return this.#readToMs < Math.max(this.#onsetMs, this.#speechEndMs - wordlessMs)
  }

  /** The decision is made then with the words that are there. */
  #lastMs(dueMs: number): number {
    return finalMs + Math.max(dueMs, this.#wordsCameMs ?? dueMs)
  }

  /** False: the flush has brought the transcript at once, and another decision was taken. */
  #flushIfDue(nowMs: number, dueMs: number): boolean {
    if (this.#isFlushed || (this.isFinal && this.text !== '') || nowMs < dueMs - flushLeadMs) return true
    this.#isFlushed = true
    const before = this.text
    this.#events.flush()
    return this.text === before
  }

  /** A stream that is being opened gets the speech afterwards, and then has the same time to find words. */
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
    const isKnown = this.#guessed.some((guessed) => sameWords(guessed, text))
    if (!this.#pipeline.turnHandling.preemptiveGeneration || isKnown || this.#guessed.length >= guessesMax) return
    this.#guessed.push(text)
    this.#events.guess(text)
  }
}
