/**
 * Plays the agent's speech in 20 ms frames, at most `aheadMs` before real time, with a mark each 100 ms. The client
 * returns a mark when the audio before it was played, so the returned marks show how much has been played.
 *
 *   idle ──begin──► held ──release──► playing ──the end was played──► idle
 *                                     │     ▲
 *                                     pause resume     the caller's buffer is cleared, and the speech goes on at the
 *                                     ▼     │          last played sample
 *                                     clearing ──► held
 */
import { frameMs, type MediaTransport } from '../../ports/media.ts'
import type { Clock } from '../../ports/system.ts'
import type { Paced, Pacer } from '../parts/pacer.ts'
import { type BackgroundSound, type Exchange, MediaLine, type Sound } from './media-line.ts'
import { markMs, PlayedPosition } from './played-position.ts'
import { retentionMs, SpeechBuffer, waitingMaxMs, waitingMinMs } from './speech-buffer.ts'

/** If the client does not answer a `clear` message in this time, the played position is estimated. */
const clearedMs = 300
/**
 * While only background sound is played, it is sent at most this much ahead of real time, because speech may follow it.
 */
const backgroundAheadMs = 60

export type PlayoutEvents = {
  /** Called when the turn's first frame was sent. */
  started(): void
  /** Called when the whole turn was played. */
  finished(): void
  /** Called when there is room for more speech. */
  drained(): void
  /** Called with each frame that was sent. The buffer may be reused after the function returns. */
  frame(samples: Int16Array): void
  /**
   * Called with played speech, without the background. Its last sample was played at `endMs`. Absent if the calling
   * code does not need it.
   */
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
  readonly #position: PlayedPosition
  #state: State = 'idle'
  #turn = 0
  #buffer = new SpeechBuffer()
  /** True if all speech of this turn has arrived. */
  #isWhole = false
  #isEndMarked = false
  /** The turn ends at this sample, even if later samples were already sent. */
  #stopsAt: number | null = null
  #isFull = false
  /** True if the last frame was speech. */
  #isSpeech = false
  #resumesWhenCleared = false
  #clearedDueMs = 0
  /** True if the turn was stopped, and the client has not yet reported its position. */
  #awaitsCleared = false
  #marks = 0

  constructor(media: MediaTransport, deps: PlayoutDeps, events: PlayoutEvents) {
    this.#line = new MediaLine(media, (samples) => events.frame(samples))
    this.#deps = deps
    this.#events = events
    this.#samplesPerMs = media.sampleRateHz / 1000
    this.#position = new PlayedPosition(this.#samplesPerMs)
  }

  /** Begins a new turn. Its speech is held until `release`. */
  begin(turn: number): void {
    const { sample, atMs } = this.#position.certain
    this.#record(sample, atMs)
    this.#position.begin()
    this.#turn = turn
    this.#state = 'held'
    this.#isSpeech = false
    this.#buffer = new SpeechBuffer()
    this.#isWhole = this.#isEndMarked = this.#isFull = this.#resumesWhenCleared = this.#awaitsCleared = false
    this.#stopsAt = null
    this.#marks = 0
  }

  /** Adds speech to the turn. Returns false if the calling code must wait for `drained`. */
  push(samples: Int16Array): boolean {
    if (this.#state === 'idle' || this.#isWhole) return true
    this.#buffer.push(samples)
    this.pace(this.#deps.clock.monotonicMs())
    if (this.#buffer.waiting > waitingMaxMs * this.#samplesPerMs) this.#isFull = true
    return !this.#isFull
  }

  /** Call this after all of the turn's speech was pushed. */
  whole(): void {
    this.#isWhole = true
    if (this.#state !== 'idle') this.pace(this.#deps.clock.monotonicMs())
  }

  /** Ends the turn at this sample. When playout reaches the sample, the client's buffered audio after it is cleared. */
  endAt(sample: number): void {
    this.#stopsAt = sample
    this.#buffer.cut(sample)
    this.whole()
  }

  /** Returns the turn's remaining playing time. */
  get leftMs(): number {
    return this.#isWhole ? this.#buffer.length / this.#samplesPerMs - this.playedMs : Number.POSITIVE_INFINITY
  }

  /** Starts or continues held speech. If a `clear` message is unanswered, speech goes on after the client's answer. */
  release(): void {
    if (this.#state === 'clearing') this.#resumesWhenCleared = true
    if (this.#state !== 'held') return
    this.#state = 'playing'
    const nowMs = this.#deps.clock.monotonicMs()
    this.#position.anchor(this.#buffer.position, Math.max(nowMs, this.#line.dueMs))
    this.#position.resumed()
    this.#deps.pacer.add(this)
    this.pace(nowMs)
  }

  /** Silences the speech at once. `release` continues it. */
  pause(): void {
    this.#resumesWhenCleared = false
    if (this.#state !== 'playing') return
    if (!this.#position.isStarted) {
      this.#state = 'held'
      return
    }
    this.#state = 'clearing'
    this.#clearedDueMs = this.#deps.clock.monotonicMs() + clearedMs
    this.#line.clear(this.#clearedDueMs - clearedMs)
  }

  /** Ends the turn and drops unplayed speech. */
  stop(): void {
    const nowMs = this.#deps.clock.monotonicMs()
    this.#awaitsCleared = this.#state === 'clearing'
    if (this.#state === 'playing' && this.#position.isStarted) {
      this.#position.setCertain(this.#playedSample(nowMs), nowMs)
      this.#awaitsCleared = this.#line.isOpen
      this.#line.clear(nowMs)
    }
    this.#quiet()
  }

  played(mark: string): void {
    const ms = this.#msOf(mark)
    this.#position.answered()
    if (ms === null) return
    this.#passed(ms * this.#samplesPerMs)
    this.#marks += 1
    if (this.#isEndMarked && this.#position.certain.sample >= this.#buffer.length) this.#finish()
  }

  cleared(mark: string | null, playedMs: number): void {
    this.#position.answered()
    // An answer to an earlier `clear` message does not give the position in this turn.
    if (!this.#line.answered() || !this.awaitsCleared) return
    const fromMs = mark === null ? 0 : (this.#msOf(mark) ?? 0)
    const sample = Math.min(Math.floor(fromMs + playedMs) * this.#samplesPerMs, this.#buffer.position)
    const nowMs = this.#deps.clock.monotonicMs()
    if (sample > 0) this.#position.played(sample, nowMs)
    if (this.#state === 'clearing') return this.#holdAt(sample)
    this.#awaitsCleared = false
    this.#record(sample, this.#position.endMs(sample))
    this.#position.setCertain(sample, nowMs)
  }

  /** Returns true while a `clear` message is unanswered, so `playedMs` is an estimate. */
  get awaitsCleared(): boolean {
    return this.#awaitsCleared || this.#state === 'clearing'
  }

  /** Returns the turn's played part: exact at a returned mark, otherwise estimated, but never more than was sent. */
  get playedMs(): number {
    return this.#playedSample(this.#deps.clock.monotonicMs()) / this.#samplesPerMs
  }

  /**
   * Returns the time at which the turn's first audio was played, on the monotonic clock. Null if nothing was played
   * yet.
   */
  get firstPlayedMs(): number | null {
    return this.#position.firstPlayedMs
  }

  /** Returns true if the client has returned no marks in this turn, so times and positions are estimates. */
  get isEstimated(): boolean {
    return this.#position.isEstimated
  }

  /**
   * Returns how many marks came back (the client's reports that audio was played), and how much audio is sent but not
   * yet played.
   */
  get figures(): { marks: number; bufferedMs: number } {
    const bufferedMs = this.#buffer.position / this.#samplesPerMs - this.playedMs
    return { marks: this.#marks, bufferedMs: Math.max(0, Math.round(bufferedMs)) }
  }

  /** Sends to another socket. Playout continues at the old socket's position. Null if the socket is lost. */
  use(media: MediaTransport | null): void {
    const nowMs = this.#deps.clock.monotonicMs()
    this.#line.use(media, nowMs)
    if (media === null) {
      if (this.#state === 'clearing') this.#holdAt(this.#playedSample(nowMs))
      return
    }
    this.#position.anchor(this.#buffer.position, nowMs)
  }

  /** Sets a sound that is played with and without speech. Null removes it. */
  background(sound: BackgroundSound, clip: Sound | null): void {
    this.#line.background(sound, clip)
    if (this.#line.hasBackground) this.#deps.pacer.add(this)
  }

  /**
   * Connects the people who have joined. While people are connected, frames are sent even without speech. Null when the
   * last person has left.
   */
  connect(people: Exchange | null): void {
    this.#line.connect(people)
    if (people !== null) this.#deps.pacer.add(this)
    else if (!this.#line.hasBackground && this.#state === 'idle') this.#deps.pacer.delete(this)
  }

  /** Stops sending frames. */
  close(): void {
    this.#line.connect(null)
    this.#line.background('ambient', null)
    this.#line.background('toolSound', null)
    this.stop()
  }

  pace(nowMs: number): void {
    if (!this.#line.isOpen) return
    if (this.#state === 'clearing' && nowMs >= this.#clearedDueMs) this.#holdAt(this.#playedSample(nowMs))
    if (this.#state !== 'playing') return this.#send(nowMs)
    if (this.#position.isUnmarked(nowMs)) this.#record(Math.floor(this.#playedSample(nowMs)), nowMs)
    if (this.#stopsAt !== null && this.#playedSample(nowMs) >= this.#stopsAt) return this.#finish(this.#stopsAt)
    this.#send(nowMs)
    if (this.#isFull && this.#buffer.waiting < waitingMinMs * this.#samplesPerMs) {
      this.#isFull = false
      this.#events.drained()
    }
    if (this.#isEndMarked && nowMs >= this.#position.finishDueMs(this.#buffer.length)) this.#finish()
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
    // The client reports its position relative to the last mark. Background sound since that mark is not part of the
    // speech, so a new mark is sent.
    if (!this.#isSpeech && line.hasBackground) line.mark(`${this.#turn}:${from / this.#samplesPerMs}`)
    this.#isSpeech = true
    this.#position.anchor(from, line.dueMs)
    this.#buffer.read(line.frame)
    line.send()
    const to = from + line.frame.length
    const every = markMs * this.#samplesPerMs
    if (Math.floor(to / every) > Math.floor(from / every)) line.mark(`${this.#turn}:${to / this.#samplesPerMs}`)
    this.#buffer.dropBefore(this.#position.certain.sample - retentionMs * this.#samplesPerMs)
    if (this.#position.isStarted) return
    this.#position.started(nowMs)
    this.#events.started()
  }

  #markEnd(): void {
    this.#isEndMarked = true
    if (!this.#position.isStarted) return this.#finish()
    this.#line.mark(`${this.#turn}:${Math.ceil(this.#buffer.length / this.#samplesPerMs)}`)
    if (this.#position.certain.sample >= this.#buffer.length) this.#finish()
  }

  /** Ends the turn, which was played up to this sample. */
  #finish(sample = this.#buffer.length): void {
    if (this.#state !== 'playing') return
    const nowMs = this.#deps.clock.monotonicMs()
    this.#position.finished()
    this.#record(sample, Math.min(nowMs, this.#position.assumedEndMs(sample)))
    this.#position.setCertain(sample, nowMs)
    if (this.#buffer.position > sample) this.#line.clear(nowMs)
    this.#quiet()
    this.#events.finished()
  }

  #quiet(): void {
    this.#state = 'idle'
    if (!this.#line.hasBackground) this.#deps.pacer.delete(this)
  }

  #holdAt(sample: number): void {
    this.#state = 'held'
    this.#isSpeech = false
    if (!this.#line.hasBackground) this.#deps.pacer.delete(this)
    this.#record(sample, this.#position.endMs(sample))
    this.#position.setCertain(sample, Number.POSITIVE_INFINITY)
    this.#isEndMarked = false
    this.#buffer.seek(sample - (sample % this.#samplesPerMs))
    if (this.#resumesWhenCleared) this.release()
  }

  /** Handles a returned mark at this sample. */
  #passed(sample: number): void {
    const nowMs = this.#deps.clock.monotonicMs()
    this.#position.played(sample, nowMs)
    if (sample <= this.#position.certain.sample) return
    if (!this.awaitsCleared) this.#record(sample, nowMs)
    this.#position.setCertain(sample, nowMs)
  }

  #record(sample: number, endMs: number): void {
    if (this.#events.played === undefined) return
    const samples = this.#buffer.takePlayed(sample)
    if (samples !== null) this.#events.played(samples, endMs)
  }

  #playedSample(nowMs: number): number {
    const sent = this.#buffer.position
    const isStill = this.#state === 'held' || this.#state === 'idle'
    return isStill && this.#position.isStarted
      ? Math.min(this.#position.certain.sample, sent)
      : this.#position.at(nowMs, sent)
  }

  /** Returns a mark's position in the turn. Null if the mark belongs to another turn. */
  #msOf(mark: string): number | null {
    const [turn, ms] = mark.split(':')
    return Number(turn) === this.#turn ? Number(ms) : null
  }
}
