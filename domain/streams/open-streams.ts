/** Limits the news streams open to clients, and reads each stream until it ends. */
import type { CancelSignal, Clock } from '../ports/system.ts'
import { Fault } from '../records/fault.ts'
import { UnderWay } from './under-way.ts'
import { Wake } from './wake.ts'

export type OpenStreamLimits = {
  /** Maximum streams with one name in this process. */
  streamsMax: number
  /** The kind of thing behind a name. */
  limit: 'session' | 'organization'
}

/** A stream's source. */
export type NewsSource<Item> = {
  /** Calls `ring` when there may be news, until the returned function is called. */
  watch(ring: () => void): () => void
  /** All news since the last call. */
  news(): AsyncIterable<Item>
  /** True if the source has ended and no news can follow. */
  isOver(): boolean
}

/** `left`: the client has gone. `timeout`: the client continues with another stream. */
export type StreamEnd = 'over' | 'timeout' | 'left'

/** A stream ends after this time, because a client with a revoked key must not open another. */
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
   * A stream counts from this call, not from its first read. Otherwise many streams opened at once could pass the limit
   * together. Throws the fault too_many_at_once.
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
    // If the client has gone, `read` may never start and so never end.
    if (signal.aborted) ended()
    else signal.addEventListener('abort', ended)
  }

  /** For a stream without a reader. */
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
