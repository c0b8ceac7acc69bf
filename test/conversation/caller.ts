/**
 * Simulates a caller on a test clock. The caller speaks words into the microphone, plays the agent's audio like a
 * browser, and sends its marks back. Each sample encodes its word, so words are read from audio exactly.
 */

import type { MediaSink, MediaTransport, SessionEvent, SessionFault } from '../../domain/ports/media.ts'
import type { EndReason } from '../../domain/records/states/call.ts'
import type { TestClock } from '../clock.ts'

export const rateHz = 16_000
/** The agent's voice takes this long for each letter. */
export const letterMs = 60
const tickMs = 10
const tickSamples = (rateHz / 1000) * tickMs
/** The client's jitter buffer delays audio by this time. */
const jitterMs = 60
/** The network to the client delays audio by this time. */
const networkMs = 5

/**
 * The words that a simulated caller or agent can speak. The word with number n has samples `loud.user + 10 n` in the
 * microphone, and `loud.agent + 10 n` from the agent.
 */
const words: string[] = []
const loud = { user: 8000, agent: 4000 }

export function sampleOf(word: string, of: 'user' | 'agent'): number {
  const at = words.indexOf(word)
  return loud[of] + 10 * (at >= 0 ? at : words.push(word) - 1)
}

export function wordAt(sample: number, of: 'user' | 'agent'): string | null {
  return words[(sample - loud[of]) / 10] ?? null
}

type Queued = { samples: Int16Array } | { mark: string }

export class SimulatedCaller implements MediaTransport {
  readonly sampleRateHz = rateHz
  readonly events: SessionEvent[] = []
  readonly marks: string[] = []
  closed: { reason: EndReason; fault: SessionFault | null } | null = null
  /** The first sample in each played tick of 10 ms. 0 is silence. */
  readonly played: { atMs: number; sample: number }[] = []
  /** True if the client reports that the audio before a mark was played. */
  sendsMarks = true
  /** The part of the agent's voice that comes back into the microphone, from 0 to 1. */
  echo = 0
  /** The longest time by which frames arrived ahead of real time. */
  aheadMaxMs = 0
  framesReceived = 0
  /** All received samples if a test collects them, otherwise null. */
  received: number[] | null = null
  readonly #clock: TestClock
  #sink: MediaSink | null = null
  #queue: Queued[] = []
  #offset = 0
  #startsMs: number | null = null
  #lastMark: { name: string; sinceMs: number } | null = null
  /** The length of the agent's audio played since the start. The client reports it in `cleared`. */
  #playedMs = 0
  #mic: number[] = []
  #voice: Int16Array = new Int16Array(0)

  constructor(clock: TestClock) {
    this.#clock = clock
  }

  join(sink: MediaSink): void {
    this.#sink = sink
  }

  frame(samples: Int16Array): void {
    this.framesReceived += 1
    this.received?.push(...samples)
    this.#startsMs ??= this.#clock.monotonicMs() + jitterMs
    this.#queue.push({ samples: samples.slice() })
    this.aheadMaxMs = Math.max(this.aheadMaxMs, this.queuedMs - jitterMs)
  }

  mark(name: string): void {
    this.#queue.push({ mark: name })
  }

  clear(): void {
    this.#queue = []
    this.#offset = 0
    this.#startsMs = null
    const last = this.#lastMark
    const playedMs = last === null ? this.#playedMs : this.#playedMs - last.sinceMs
    if (this.sendsMarks) this.#clock.after(networkMs, () => this.#sink?.cleared(last?.name ?? null, playedMs))
  }

  notify(event: SessionEvent): void {
    this.events.push(event)
  }

  close(reason: EndReason, fault: SessionFault | null): void {
    this.closed = { reason, fault }
  }

  get queuedMs(): number {
    const samples = this.#queue.reduce((sum, each) => sum + ('samples' in each ? each.samples.length : 0), 0)
    return (samples - this.#offset) / (rateHz / 1000)
  }

  /** Speaks the text from now on: each word takes 50 ms per letter, without pauses. */
  say(text: string): number {
    for (const word of text.split(' ')) {
      const ticks = Math.max(10, word.length * 5)
      for (let tick = 0; tick < ticks; tick++) this.#mic.push(sampleOf(word, 'user'))
    }
    return this.#mic.length * tickMs
  }

  /** Speaks recorded audio from now on. The simulated recognizer knows no words in it. */
  speak(voice: Int16Array): void {
    this.#voice = voice
  }

  get nowMs(): number {
    return this.#clock.monotonicMs()
  }

  /** Makes a sound without words. */
  noise(ms: number): void {
    for (let tick = 0; tick < ms / tickMs; tick++) this.#mic.push(7999)
  }

  pause(ms: number): void {
    for (let tick = 0; tick < ms / tickMs; tick++) this.#mic.push(0)
  }

  /** Lets `ms` pass, with audio from all sides. */
  async run(ms: number): Promise<void> {
    for (let tick = 0; tick < ms / tickMs; tick++) {
      await this.#clock.advance(tickMs)
      const echo = this.#play()
      const own = this.#mic.shift() ?? 0
      const voice = this.#voice.subarray(0, tickSamples)
      this.#voice = this.#voice.subarray(voice.length)
      const isWhole = voice.length === tickSamples
      this.#sink?.audio(isWhole ? voice : new Int16Array(tickSamples).fill(own || Math.round(echo * this.echo)))
    }
  }

  /** Lets time pass while the socket is lost: nothing is sent, and queued audio is dropped. */
  async runDeaf(ms: number): Promise<void> {
    this.#queue = []
    this.#startsMs = null
    for (let tick = 0; tick < ms / tickMs; tick++) await this.#clock.advance(tickMs)
  }

  /** Runs until `isDone`, and throws after `mostMs`. */
  async until(isDone: () => boolean, mostMs = 20_000): Promise<void> {
    for (let ms = 0; ms < mostMs && !isDone(); ms += tickMs) await this.run(tickMs)
    if (!isDone()) throw new Error('the caller has waited too long')
  }

  /** Returns the agent's played words in order, including words that were cut off. */
  get agentWords(): string {
    const list: string[] = []
    let last = 0
    for (const { sample } of this.played) {
      const word = sample === last ? null : wordAt(sample, 'agent')
      if (word !== null) list.push(word)
      if (sample !== 0) last = sample
    }
    return list.join(' ')
  }

  /** Returns the agent's words that were played completely. */
  get wholeAgentWords(): string[] {
    const ticks: number[] = []
    let last = 0
    for (const { sample } of this.played) {
      if (sample !== 0 && sample !== last) ticks.push(0)
      if (sample !== 0) ticks[ticks.length - 1] = (ticks.at(-1) ?? 0) + 1
      if (sample !== 0) last = sample
    }
    const list = this.agentWords.split(' ')
    return list.filter((word, at) => (ticks[at] ?? 0) * tickMs >= word.length * letterMs - tickMs)
  }

  /** Returns the time when the agent was first audible after `afterMs`, or null. */
  firstAgentAudioMs(afterMs: number): number | null {
    return this.played.find(({ atMs, sample }) => atMs >= afterMs && sample !== 0)?.atMs ?? null
  }

  lastAgentAudioMs(): number | null {
    return this.played.findLast(({ sample }) => sample !== 0)?.atMs ?? null
  }

  #play(): number {
    const nowMs = this.#clock.monotonicMs()
    this.#passMarks()
    const head = this.#queue[0]
    if (head === undefined || this.#startsMs === null || nowMs < this.#startsMs) {
      if (head === undefined) this.#startsMs = null
      this.played.push({ atMs: nowMs, sample: 0 })
      return 0
    }
    if (!('samples' in head)) return 0
    const sample = head.samples[this.#offset] ?? 0
    this.played.push({ atMs: nowMs, sample })
    this.#offset += tickSamples
    this.#playedMs += tickMs
    if (this.#offset >= head.samples.length) {
      this.#queue.shift()
      this.#offset = 0
    }
    this.#passMarks()
    return sample
  }

  #passMarks(): void {
    for (let head = this.#queue[0]; head !== undefined && 'mark' in head; head = this.#queue[0]) {
      const { mark } = head
      this.#queue.shift()
      this.marks.push(mark)
      this.#lastMark = { name: mark, sinceMs: this.#playedMs }
      if (this.sendsMarks) this.#clock.after(networkMs, () => this.#sink?.played(mark))
    }
  }
}
