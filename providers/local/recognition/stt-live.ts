/**
 * The child processes for live recognition. A child starts when it is needed and ends after a time without streams. The
 * streams are distributed evenly among the children. Organizations share the capacity for streams in all children.
 */

import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { SttStream, SttStreamSink } from '../../../domain/ports/stt.ts'
import type { CancelSignal, Log } from '../../../domain/ports/system.ts'
import { Capacity } from '../../../runtime/shares/capacity.ts'
import { type Shares, undivided } from '../../../runtime/shares/owners.ts'
import { ownerOf } from '../children/child-pool.ts'
import type { StreamInput } from './stt-live-messages.ts'
import { StreamChild, type StreamChildOptions } from './stt-live-process.ts'

export type StreamPoolOptions = Omit<StreamChildOptions, 'onIdle'> & {
  processes: number
  /** The maximum number of streams in one child. Further streams are refused. */
  streamsMax: number
  /** Divides the streams among organizations. */
  shares?: Shares | undefined
  /** A child without a stream is ended after this time, because it holds its models in memory. */
  idleMs: number
  log: Log
}

/** The Retry-After if all children are full: a short wait, because a stream's end cannot be predicted. */
const retryAfterS = 5

export class StreamPool {
  readonly #options: StreamPoolOptions
  readonly #children = new Set<StreamChild>()
  readonly #idleTimers = new Map<StreamChild, () => void>()
  readonly #places: Capacity
  #closed = false

  constructor(options: StreamPoolOptions) {
    this.#options = options
    const { owners, part } = options.shares ?? undivided()
    this.#places = new Capacity({ max: options.processes * options.streamsMax, part }, owners)
  }

  /** Opens a stream. Resolves when a child has loaded its models and is ready for audio. Rejects with ProviderError. */
  async open(input: StreamInput, sink: SttStreamSink, signal: CancelSignal): Promise<SttStream> {
    if (signal.aborted) throw new ProviderError('cancelled', { sent: false, cause: signal.reason })
    if (this.#closed) throw new ProviderError('unreachable', { sent: false })
    const place = this.#places.take(ownerOf(signal))
    const child = place && this.#childWithCapacity()
    if (!place || !child) {
      place?.end()
      throw new ProviderError('overloaded', { sent: false, retryAfterS })
    }
    this.#endIdle(child)
    return child.open(input, place, sink, signal)
  }

  /** Starts a child for the next stream if no child is alive. */
  warmUp(): void {
    if (this.#closed || [...this.#children].some((child) => child.alive)) return
    const child = this.#start()
    child.load()
    this.#endWhenIdle(child)
  }

  /** Ends all children and waits until they have ended. Open streams fail. */
  async close(): Promise<void> {
    this.#closed = true
    const children = [...this.#children]
    for (const child of children) child.end()
    await Promise.all(children.map((child) => child.exited))
  }

  #childWithCapacity(): StreamChild | undefined {
    const { processes, streamsMax } = this.#options
    const alive = [...this.#children].filter((child) => child.alive)
    const least = alive.toSorted((a, b) => a.streams - b.streams)[0]
    if (least?.streams === 0) return least
    if (alive.length < processes) return this.#start()
    return least && least.streams < streamsMax ? least : undefined
  }

  #start(): StreamChild {
    const { entry, log } = this.#options
    const child: StreamChild = new StreamChild({
      ...this.#options,
      onIdle: () => this.#endWhenIdle(child),
    })
    const fields = { entry, childPid: child.pid }
    log.info(fields, 'speech child started')
    this.#children.add(child)
    void child.exited.then((how) => {
      this.#children.delete(child)
      this.#endIdle(child)
      log.info({ ...fields, how }, 'speech child ended')
    })
    return child
  }

  #endWhenIdle(child: StreamChild): void {
    if (!child.alive) return
    const { clock, idleMs } = this.#options
    this.#idleTimers.set(
      child,
      clock.after(idleMs, () => child.end()),
    )
  }

  #endIdle(child: StreamChild): void {
    this.#idleTimers.get(child)?.()
    this.#idleTimers.delete(child)
  }
}
