/**
 * Plays the speech of the agent: frames of 20 ms, at most `aheadMs` before real time, and a mark each 100 ms. The
 * marks that come back say how much of a turn was played.
 *
 *   idle ──begin──► held ──release──► playing ──the end was played──► idle
 *                                     │     ▲
 *                                     pause resume     the caller's buffer is cleared, and the speech goes on at the sample
 *                                     ▼     │          that was played last
 *                                     clearing ──► held
 */
import { frameMs, type MediaTransport } from '../ports/media.ts'
import type { Clock } from '../ports/system.ts'
import { type BackgroundSound, type Exchange, MediaLine, type Sound } from './media-line.ts'
import { keptMs, SpeechBuffer, waitingMaxMs, waitingMinMs } from './speech-buffer.ts'

/** One timer paces all sessions (`Watch` of the runtime). `place` belongs to it and is -1 at first. */
export interface Pacer {
  add(member: Paced): void
  delete(member: Paced): void
}
export type Paced = { place: number; pace(nowMs: number): void }

/** A mark is sent after this much audio. */
const markMs = 100
/** The time from sending to playing that is assumed of a client that sends no marks back. */
const assumedDelayMs = 150
/** A client that has sent no mark back by then sends none. */
const firstMarkMs = 3000
/** The last mark of a turn may come this much after the moment at which it was due. */
const lateMarkMs = 2000
/** A clear is answered in this time, or the position is estimated. */
const clearedMs = 300
/** Without speech no more than this is sent ahead, because speech comes after it. */
const backgroundAheadMs = 60

export type PlayoutEvents = {
  /** The first frame of the turn was sent. */
  started(): void
  /** The whole turn was played. */
  finished(): void
  /** There is room for more speech. */
  drained(): void
  /** A frame was sent. The samples are lent until it returns. */
  frame(samples: Int16Array): void
  /** Speech that was played, without the background; its end was played at this moment. Absent: nobody asks. */
  played?(samples: Int16Array, endMs: number): void
}

export type PlayoutDeps = { clock: Clock; pacer: Pacer; aheadMs: number }

type State = 'idle' | 'held' | 'playing' | 'clearing'

export class Playout implements Paced {
  place = -1
  readonly #deps: PlayoutDeps
  readonly #events: PlayoutEvents
  readonly #samplesPerMs: number
  readonly #line: MediaLine
  #state: State = 'idle'
  #turn = 0
  #buffer = new SpeechBuffer()
  /** No more speech of this turn follows. */
  #isWhole = false
  #isEndMarked = false
  /** The turn ends here, although more was sent. */
  #stopsAt: number | null = null
  #isFull = false
  /** The last frame was speech. */
  #isSpeech = false
  /** The sample at `#anchorSample` was due to be played at `#anchorMs`. */
  #anchorMs = 0
  #anchorSample = 0
  #startedMs: number | null = null
  /** The last position that is certain. */
  #known = { sample: 0, atMs: 0 }
  #firstPlayedMs: number | null = null
  /** Whether this client sends marks back. Null: not known yet. */
  #sendsMarks: boolean | null = null
  #resumesWhenCleared = false
  #clearedDueMs = 0
  /** The turn was stopped, and the client has not said yet how far it was played. */
  #awaitsCleared = false
  #marks = 0

  constructor(media: MediaTransport, deps: PlayoutDeps, events: PlayoutEvents) {
    this.#line = new MediaLine(media, (samples) => events.frame(samples))
    this.#deps = deps
    this.#events = events
    this.#samplesPerMs = media.sampleRateHz / 1000
  }

  /** A new turn. Its speech is held until `release`. */
  begin(turn: number): void {
    this.#record(this.#known.sample, this.#known.atMs)
    this.#turn = turn
    this.#state = 'held'
    this.#isSpeech = false
    this.#buffer = new SpeechBuffer()
    this.#isWhole = this.#isEndMarked = this.#isFull = this.#resumesWhenCleared = this.#awaitsCleared = false
    this.#startedMs = this.#firstPlayedMs = this.#stopsAt = null
    this.#known = { sample: 0, atMs: 0 }
    this.#marks = 0
  }

  /** False: no more speech until `drained`. */
  push(samples: Int16Array): boolean {
    if (this.#state === 'idle' || this.#isWhole) return true
    this.#buffer.push(samples)
    this.pace(this.#deps.clock.monotonicMs())
    if (this.#buffer.waiting > waitingMaxMs * this.#samplesPerMs) this.#isFull = true
    return !this.#isFull
  }

  /** All speech of the turn was pushed. */
  whole(): void {
    this.#isWhole = true
    if (this.#state !== 'idle') this.pace(this.#deps.clock.monotonicMs())
  }

  /** The turn ends at this sample. Audio that was sent after it is cleared once it is reached. */
  endAt(sample: number): void {
    this.#stopsAt = sample
    this.#buffer.cut(sample)
    this.whole()
  }

  /** How much of the turn is still to be played. */
  get leftMs(): number {
    return this.#isWhole ? this.#buffer.length / this.#samplesPerMs - this.playedMs : Number.POSITIVE_INFINITY
  }

  /** Speech that is held is played. While a clear is under way, the speech goes on when its answer has come. */
  release(): void {
    if (this.#state === 'clearing') this.#resumesWhenCleared = true
    if (this.#state !== 'held') return
    this.#state = 'playing'
    const nowMs = this.#deps.clock.monotonicMs()
    this.#anchorMs = Math.max(nowMs, this.#line.dueMs)
    this.#anchorSample = this.#buffer.position
    if (this.#known.sample > 0) this.#known.atMs = this.#anchorMs + assumedDelayMs
    this.#deps.pacer.add(this)
    this.pace(nowMs)
  }

  /** Silence at once. */
  pause(): void {
    this.#resumesWhenCleared = false
    if (this.#state !== 'playing') return
    if (this.#startedMs === null) {
      this.#state = 'held'
      return
    }
    this.#state = 'clearing'
    this.#clearedDueMs = this.#deps.clock.monotonicMs() + clearedMs
    this.#line.clear(this.#clearedDueMs - clearedMs)
  }

  /** Ends the turn: what was not played is dropped. */
  stop(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    this.#awaitsCleared = this.#state === 'clearing'
    if (this.#state === 'playing' && this.#startedMs !== null) {
      this.#known = { sample: this.#playedSample(nowMs), atMs: nowMs }
      this.#awaitsCleared = this.#line.isOpen
      this.#line.clear(nowMs)
    }
    this.#quiet()
  }

  played(mark: string): void {
    const ms = this.#msOf(mark)
    this.#sendsMarks = true
    if (ms === null) return
    this.#knows(ms * this.#samplesPerMs)
    this.#marks += 1
    if (this.#isEndMarked && this.#known.sample >= this.#buffer.length) this.#finish()
  }

  cleared(mark: string | null, playedMs: number): void {
    this.#sendsMarks = true
    // An answer to an earlier clear says nothing of this turn.
    if (!this.#line.answered() || !this.awaitsCleared) return
    const fromMs = mark === null ? 0 : (this.#msOf(mark) ?? 0)
    const sample = Math.min(Math.floor(fromMs + playedMs) * this.#samplesPerMs, this.#buffer.position)
    if (sample > 0) this.#firstPlayedMs ??= this.#deps.clock.monotonicMs() - sample / this.#samplesPerMs
    if (this.#state === 'clearing') return this.#heldAt(sample)
    this.#awaitsCleared = false
    this.#recordAfterKnown(sample)
    this.#known = { sample, atMs: this.#deps.clock.monotonicMs() }
  }

  /** Whether the answer to a clear is still to come, so that `playedMs` is an estimate. */
  get awaitsCleared(): boolean {
    return this.#awaitsCleared || this.#state === 'clearing'
  }

  /** The part of the turn that was played: certain where a mark says so, else estimated and never more than was sent. */
  get playedMs(): number {
    return this.#playedSample(this.#deps.clock.monotonicMs()) / this.#samplesPerMs
  }

  /** On the monotonic clock. Null: nothing was played yet. */
  get firstPlayedMs(): number | null {
    if (this.#firstPlayedMs !== null) return this.#firstPlayedMs
    return this.#startedMs === null ? null : this.#startedMs + assumedDelayMs
  }

  /** The client has sent no marks for this turn, so times and positions are estimates. */
  get isEstimated(): boolean {
    return this.#firstPlayedMs === null
  }

  /** Marks that came back, and the audio that was sent before it was played. */
  get figures(): { marks: number; bufferedMs: number } {
    const bufferedMs = this.#buffer.position / this.#samplesPerMs - this.playedMs
    return { marks: this.#marks, bufferedMs: Math.max(0, Math.round(bufferedMs)) }
  }

  /** Null: the socket is gone. A new one takes over where the last one was. */
  use(media: MediaTransport | null): void {
    const nowMs = this.#deps.clock.monotonicMs()
    this.#line.use(media, nowMs)
    if (media === null) {
      if (this.#state === 'clearing') this.#heldAt(this.#playedSample(nowMs))
      return
    }
    this.#anchorMs = nowMs
    this.#anchorSample = this.#buffer.position
  }

  /** Sounds that are played with the speech and without it. Null: none. */
  background(sound: BackgroundSound, clip: Sound | null): void {
    this.#line.background(sound, clip)
    if (this.#line.hasBackground) this.#deps.pacer.add(this)
  }

  /** Frames go on without speech while people have joined. Null: none are left. */
  connect(people: Exchange | null): void {
    this.#line.connect(people)
    if (people !== null) this.#deps.pacer.add(this)
    else if (!this.#line.hasBackground && this.#state === 'idle') this.#deps.pacer.delete(this)
  }

  /** No frame is sent any more. */
  close(): void {
    this.#line.connect(null)
    this.#line.background('ambient', null)
    this.#line.background('toolSound', null)
    this.stop()
  }

  pace(nowMs: number): void {
    if (!this.#line.isOpen) return
    if (this.#state === 'clearing' && nowMs >= this.#clearedDueMs) this.#heldAt(this.#playedSample(nowMs))
    if (this.#state !== 'playing') return this.#send(nowMs)
    if (this.#sendsMarks !== true) this.#recordEstimated(nowMs)
    if (this.#stopsAt !== null && this.#playedSample(nowMs) >= this.#stopsAt) return this.#finish(this.#stopsAt)
    this.#send(nowMs)
    if (this.#isFull && this.#buffer.waiting < waitingMinMs * this.#samplesPerMs) {
      this.#isFull = false
      this.#events.drained()
    }
    if (this.#isEndMarked && nowMs >= this.#finishDueMs()) this.#finish()
  }

  #send(nowMs: number): void {
    const line = this.#line
    for (;;) {
      line.catchUp(nowMs)
      const isPlaying = this.#state === 'playing' && !this.#isEndMarked
      const { waiting } = this.#buffer
      if (isPlaying && this.#isWhole && waiting === 0) return this.#markEnd()
      const isSpeech = isPlaying && (waiting >= line.frame.length || this.#isWhole)
      if (!isSpeech && !line.hasBackground) return
      if (line.dueMs + frameMs - nowMs > (isSpeech ? this.#deps.aheadMs : backgroundAheadMs)) return
      if (isSpeech) this.#sendSpeech(nowMs)
      else this.#sendBackground()
    }
  }

  #sendBackground(): void {
    this.#isSpeech = false
    this.#line.frame.fill(0)
    this.#line.send()
  }

  #sendSpeech(nowMs: number): void {
    const line = this.#line
    const from = this.#buffer.position
    // The client counts from the last mark, and the background between is not speech.
    if (!this.#isSpeech && line.hasBackground) line.mark(`${this.#turn}:${from / this.#samplesPerMs}`)
    this.#isSpeech = true
    this.#anchorMs = line.dueMs
    this.#anchorSample = from
    this.#buffer.read(line.frame)
    line.send()
    const to = from + line.frame.length
    const every = markMs * this.#samplesPerMs
    if (Math.floor(to / every) > Math.floor(from / every)) line.mark(`${this.#turn}:${to / this.#samplesPerMs}`)
    this.#buffer.dropBefore(this.#known.sample - keptMs * this.#samplesPerMs)
    if (this.#startedMs !== null) return
    this.#startedMs = nowMs
    this.#events.started()
  }

  #markEnd(): void {
    this.#isEndMarked = true
    if (this.#startedMs === null) return this.#finish()
    this.#line.mark(`${this.#turn}:${Math.ceil(this.#buffer.length / this.#samplesPerMs)}`)
    if (this.#known.sample >= this.#buffer.length) this.#finish()
  }

  /** The turn was played up to here. */
  #finish(sample = this.#buffer.length): void {
    if (this.#state !== 'playing') return
    if (this.#firstPlayedMs === null) this.#sendsMarks ??= false
    const nowMs = this.#deps.clock.monotonicMs()
    this.#record(sample, Math.min(nowMs, this.#dueMs(sample) + assumedDelayMs))
    this.#known = { sample, atMs: nowMs }
    if (this.#buffer.position > sample) this.#line.clear(nowMs)
    this.#quiet()
    this.#events.finished()
  }

  #quiet(): void {
    this.#state = 'idle'
    if (!this.#line.hasBackground) this.#deps.pacer.delete(this)
  }

  #heldAt(sample: number): void {
    this.#state = 'held'
    this.#isSpeech = false
    if (!this.#line.hasBackground) this.#deps.pacer.delete(this)
    this.#recordAfterKnown(sample)
    this.#known = { sample, atMs: Number.POSITIVE_INFINITY }
    this.#isEndMarked = false
    this.#buffer.seek(sample - (sample % this.#samplesPerMs))
    if (this.#resumesWhenCleared) this.release()
  }

  #knows(sample: number): void {
    const atMs = this.#deps.clock.monotonicMs()
    this.#firstPlayedMs ??= atMs - sample / this.#samplesPerMs
    if (sample <= this.#known.sample) return
    if (!this.awaitsCleared) this.#record(sample, atMs)
    this.#known = { sample, atMs }
  }

  /** The speech after the last mark ended that much later. */
  #recordAfterKnown(sample: number): void {
    const { sample: known, atMs } = this.#known
    if (sample > known && known > 0) this.#record(sample, atMs + (sample - known) / this.#samplesPerMs)
    else this.#record(sample, this.#dueMs(sample) + assumedDelayMs)
  }

  #recordEstimated(nowMs: number): void {
    if (this.#startedMs === null || nowMs - this.#startedMs < firstMarkMs) return
    const sample = this.#playedSample(nowMs)
    this.#record(Math.floor(sample), nowMs)
  }

  #record(sample: number, endMs: number): void {
    if (this.#events.played === undefined) return
    const samples = this.#buffer.takePlayed(sample)
    if (samples !== null) this.#events.played(samples, endMs)
  }

  #playedSample(nowMs: number): number {
    if (this.#startedMs === null) return 0
    const { sample, atMs } = this.#known
    const sent = this.#buffer.position
    if (this.#state === 'held' || this.#state === 'idle') return Math.min(sample, sent)
    if (sample > 0) {
      const sinceMs = Math.max(0, nowMs - atMs)
      // The next mark has not come back, so it was not passed.
      const passedMs = this.#sendsMarks ? Math.min(sinceMs, markMs) : sinceMs
      return Math.min(sample + passedMs * this.#samplesPerMs, sent)
    }
    const playingMs = nowMs - this.#anchorMs - assumedDelayMs
    return Math.min(Math.max(0, this.#anchorSample + playingMs * this.#samplesPerMs), sent)
  }

  #dueMs(sample: number): number {
    return this.#anchorMs + (sample - this.#anchorSample) / this.#samplesPerMs
  }

  /** When the turn counts as played although its last mark has not come back. */
  #finishDueMs(): number {
    const endMs = this.#dueMs(this.#buffer.length)
    if (this.#sendsMarks === true) return endMs + lateMarkMs
    if (this.#sendsMarks === false) return endMs + assumedDelayMs
    return Math.max((this.#startedMs ?? 0) + firstMarkMs, endMs + assumedDelayMs)
  }

  /** Null: the mark is not one of this turn. */
  #msOf(mark: string): number | null {
    const [turn, ms] = mark.split(':')
    return Number(turn) === this.#turn ? Number(ms) : null
  }
}
