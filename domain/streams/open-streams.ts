/** Limits clients' open event streams, and reads each stream until it ends. */
import type { CancelSignal, Clock } from '../ports/system.ts'
import { Fault } from '../records/fault.ts'
import { UnderWay } from './under-way.ts'
import { Wake } from './wake.ts'

export type OpenStreamLimits = {
  /** The maximum number of open streams for one session or organization (the stream's name) in this process. */
  streamsMax: number
  /** The kind of resource that a stream's name identifies, for the fault when the limit is reached. */
  limit: 'session' | 'organization'
}

/** The source of a stream's items. */
export type NewsSource<Item> = {
  /** Calls `ring` when there may be new items. Returns a function that stops the watch. */
  watch(ring: () => void): () => void
  /** Returns all new items since `news` was last called. */
  news(): AsyncIterable<Item>
  /** Returns true if the source has ended and no new items can follow. */
  isOver(): boolean
}

/**
 * `over`: the source has ended. `left`: the client has disconnected. `timeout`: the stream was open for `streamMs`, and
 * the client may open another stream.
 */
export type StreamEnd = 'over' | 'timeout' | 'left'

/**
 * The longest time for one stream. A client must then open another stream. If its API key was revoked, the new stream
 * is refused.
 */
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
   * Opens a stream. The stream counts as open from this call on. If it counted only from its first read, many streams
   * opened at once could exceed the limit. Throws the fault `too_many_at_once`.
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
    // If the client has disconnected, `read` may never begin, so the stream is ended here.
    if (signal.aborted) ended()
    else signal.addEventListener('abort', ended)
  }

  /** Closes a stream without a reader, so that it no longer counts against the limit. */
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
