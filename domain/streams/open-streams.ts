/** Streams of news that clients keep open: how many of one thing there may be, and how each of them goes on. */
import type { CancelSignal, Clock } from '../ports/system.ts'
import { Fault } from '../records/fault.ts'
import { UnderWay } from './under-way.ts'
import { Wake } from './wake.ts'

export type OpenStreamLimits = {
  /** Streams with one name in this process. */
  streamsMax: number
  /** A name stands for one of these. */
  limit: 'session' | 'organization'
}

/** The things that a stream reads. */
export type NewsSource<Item> = {
  /** `ring` is called when there may be news, until the returned function is called. */
  watch(ring: () => void): () => void
  /** All since the last call. */
  news(): AsyncIterable<Item>
  /** Nothing comes after the last news. */
  isOver(): boolean
}

/** `left`: the client has gone. `timeout`: the client goes on with another stream. */
export type StreamEnd = 'over' | 'timeout' | 'left'

/** A client whose key was revoked gets no other stream after this. */
const streamMs = 600_000

export class OpenStreams {
  readonly #clock: Pick<Clock, 'after'>
  readonly #limits: OpenStreamLimits
  readonly #underWay = new UnderWay()

  constructor(clock: Pick<Clock, 'after'>, limits: OpenStreamLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /**
   * A stream counts from here on and not from its first read, so that many at once do not pass the limit together. Throws
   * the fault too_many_at_once.
   */
  open(name: string, signal: CancelSignal): OpenStream {
    const { streamsMax, limit } = this.#limits
    if (this.#underWay.of(name) >= streamsMax) throw new Fault({ kind: 'too_many_at_once', limit }, { retryAfterS: 1 })
    return new OpenStream(this.#clock, signal, this.#underWay.begin(name))
  }
}

export class OpenStream {
  readonly #clock: Pick<Clock, 'after'>
  readonly #signal: CancelSignal
  readonly #ended: () => void

  constructor(clock: Pick<Clock, 'after'>, signal: CancelSignal, ended: () => void) {
    this.#clock = clock
    this.#signal = signal
    this.#ended = ended
    // A client that has gone may never read, and then `read` never ends.
    if (signal.aborted) ended()
    else signal.addEventListener('abort', ended)
  }

  /** For a stream that is not read. */
  end(): void {
    this.#signal.removeEventListener('abort', this.#ended)
    this.#ended()
  }

  async *read<Item>(source: NewsSource<Item>): AsyncGenerator<Item, StreamEnd, undefined> {
    const wake = new Wake()
    const ring = () => wake.ring()
    const unwatch = source.watch(ring)
    this.#signal.addEventListener('abort', ring)
    let isLate = false
    const cancel = this.#clock.after(streamMs, () => {
      isLate = true
      ring()
    })
    try {
      while (!this.#signal.aborted) {
        wake.reset()
        yield* source.news()
        if (source.isOver()) return 'over'
        if (isLate) return 'timeout'
        await wake.rung()
      }
      return 'left'
    } finally {
      cancel()
      this.#signal.removeEventListener('abort', ring)
      unwatch()
      this.end()
    }
  }
}
