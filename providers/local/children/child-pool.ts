/**
 * A few child processes that run the same entry file, and a bounded job queue. Organizations share the queue and are
 * served in turn. A child starts when it is first needed and ends after an idle time. A cancelled job is rejected at
 * once; its child continues to the next safe point, or is killed.
 */

import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { CancelSignal, Clock, Log } from '../../../domain/ports/system.ts'
import type { Place } from '../../../runtime/shares/capacity.ts'
import { FairQueue } from '../../../runtime/shares/fair-queue.ts'
import { JobPlaces, type JobShares } from './job-places.ts'
import { type ChildJob, JobProcess } from './job-process.ts'
import type { EngineEntry } from './speech-engine-process.ts'

export type PoolOptions = {
  entry: EngineEntry
  /** The arguments for the entry file. */
  args?: readonly string[] | undefined
  processes: number
  /** The maximum number of waiting jobs. Further jobs are refused. */
  queueMax: number
  /** Divides the queue among organizations. */
  shares?: JobShares | undefined
  /** A child is ended if it is idle for this long, because it holds its models in memory. */
  idleMs: number
  /**
   * If true, the last idle child is not ended, so that the next job does not wait until a new child has loaded its
   * models.
   */
  keepsLast: boolean
  /** The time limit for a cancelled job to reach a point where it can stop safely, and for a child to exit. */
  stopMs: number
  clock: Clock
  log: Log
}

export type PoolJob = ChildJob & {
  /** The organization that the job is for. */
  owner: string
  /** The job's time limit in a child. The time in the queue does not count. */
  timeoutMs: number
  /** The job's expected duration. If the queue is full, the refusal's Retry-After is calculated from it. */
  expectedMs: number
  /**
   * If true, the job continues an earlier job for the same request, so it waits in the queue and is never refused. A
   * request has only one such job at a time.
   */
  continues?: boolean
}

type Waiting = {
  job: PoolJob
  signal: AbortSignal
  /**
   * The job's reserved place in the queue. Null if the job never waits, or if the job is a later job of a request and
   * its organization has used up its share of the queue.
   */
  place: Place | null
  leave?: () => void
  resolve: (output: unknown) => void
  reject: (error: unknown) => void
}

const retryAfterMaxS = 60

/** Returns the organization for the request with this cancel signal. */
export const ownerOf = ({ owner }: CancelSignal): string => owner ?? ''

export class ChildPool {
  readonly #options: PoolOptions
  readonly #queue = new FairQueue<Waiting>()
  readonly #places: JobPlaces
  readonly #children = new Set<JobProcess>()
  readonly #idleTimers = new Map<JobProcess, () => void>()
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#places = new JobPlaces(options)
  }

  /**
   * Throws ProviderError if a new job would be refused now. This check costs much less than preparing a job only to
   * have it refused.
   */
  assertRoom(owner: string): void {
    if (!this.isReady && !this.#places.admits(owner)) throw this.#overloaded()
  }

  /** Runs the job in a child. Rejects with ProviderError; `sent` is false if no child had started the job. */
  async run(job: PoolJob, signal: AbortSignal): Promise<unknown> {
    if (signal.aborted) throw new ProviderError('cancelled', { sent: false })
    if (this.#closed) throw new ProviderError('unreachable', { sent: false })
    const child = this.#queue.size === 0 ? this.#idleChild() : undefined
    if (child) return this.#start(child, job, signal)
    const place = this.#places.take(job.owner)
    return place || job.continues ? this.#enqueue(job, signal, place) : this.#enqueueLater(job, signal)
  }

  /** The number of jobs in the queue. */
  get waiting(): number {
    return this.#queue.size
  }

  get hasChildren(): boolean {
    return this.#children.size > 0
  }

  /** True if a new job would begin at once, because an idle child has its models loaded. */
  get isReady(): boolean {
    return this.#queue.size === 0 && [...this.#children].some(({ alive, busy }) => alive && !busy)
  }

  /** Rejects all jobs, ends all children and waits for their end. */
  async close(): Promise<void> {
    this.#closed = true
    this.#places.close()
    for (let first = this.#takeFirst(); first; first = this.#takeFirst())
      first.reject(new ProviderError('unreachable', { sent: false }))
    const children = [...this.#children]
    const { clock, stopMs } = this.#options
    for (const child of children) child.end(clock, stopMs)
    await Promise.all(children.map((child) => child.exited))
  }

  #start(child: JobProcess, job: PoolJob, signal: AbortSignal): Promise<unknown> {
    this.#queue.countTurn(job.owner)
    return new Promise((resolve, reject) => {
      void this.#work(child, { job, signal, place: null, resolve, reject })
    })
  }

  /** Waits for a place in the queue. Throws if there is no place in time. */
  async #enqueueLater(job: PoolJob, signal: AbortSignal): Promise<unknown> {
    const place = await this.#places.wait(job.owner, signal)
    if (place && !signal.aborted && !this.#closed) return this.#enqueue(job, signal, place)
    this.#places.end(place)
    if (signal.aborted) throw new ProviderError('cancelled', { sent: false })
    throw this.#closed ? new ProviderError('unreachable', { sent: false }) : this.#overloaded()
  }

  #enqueue(job: PoolJob, signal: AbortSignal, place: Place | null): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#queue.delete(job.owner, waiting)
        this.#places.end(place)
        reject(new ProviderError('cancelled', { sent: false }))
      }
      const waiting: Waiting = { job, signal, place, leave, resolve, reject }
      this.#queue.add(job.owner, waiting)
      signal.addEventListener('abort', leave, { once: true })
      // While the job waited for its place, a child may have become idle.
      this.#next()
    })
  }

  #takeFirst(): Waiting | undefined {
    const waiting = this.#queue.take()
    if (waiting?.leave) waiting.signal.removeEventListener('abort', waiting.leave)
    this.#places.end(waiting?.place ?? null)
    return waiting
  }

  async #work(child: JobProcess, { job, signal, resolve, reject }: Waiting): Promise<void> {
    const { clock, stopMs } = this.#options
    let timedOut = false
    let cancelKill = () => {}
    const endTimeout = clock.after(job.timeoutMs, () => {
      timedOut = true
      child.kill()
    })
    const stop = () => {
      reject(new ProviderError('cancelled', { sent: true }))
      child.stop()
      cancelKill = clock.after(stopMs, () => child.kill())
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      resolve(await child.run(job))
    } catch (error) {
      reject(timedOut ? new ProviderError('timeout', { sent: true, cause: error }) : error)
    }
    signal.removeEventListener('abort', stop)
    endTimeout()
    cancelKill()
    this.#release(child)
  }

  #release(child: JobProcess): void {
    if (child.alive) {
      const { clock, idleMs } = this.#options
      this.#idleTimers.set(
        child,
        clock.after(idleMs, () => this.#endIdle(child)),
      )
    }
    this.#next()
  }

  #endIdle(child: JobProcess): void {
    const { clock, keepsLast, stopMs } = this.#options
    const hasOther = [...this.#children].some((other) => other !== child && other.alive)
    if (!keepsLast || hasOther) child.end(clock, stopMs)
  }

  #next(): void {
    while (this.#queue.size > 0 && !this.#closed) {
      const child = this.#idleChild()
      const first = child && this.#takeFirst()
      if (!child || !first) return
      void this.#work(child, first)
    }
  }

  /** Returns an idle child, or a new child if the limit allows. The calling code must use the child at once. */
  #idleChild(): JobProcess | undefined {
    for (const child of this.#children) {
      if (child.busy || !child.alive) continue
      this.#idleTimers.get(child)?.()
      this.#idleTimers.delete(child)
      return child
    }
    return this.#children.size < this.#options.processes ? this.#fork() : undefined
  }

  #fork(): JobProcess {
    const { entry, args, log } = this.#options
    const child = new JobProcess(entry, args)
    log.info({ entry, childPid: child.pid }, 'speech child started')
    this.#children.add(child)
    void child.exited.then((how) => {
      this.#children.delete(child)
      this.#idleTimers.get(child)?.()
      this.#idleTimers.delete(child)
      log.info({ entry, childPid: child.pid, how }, 'speech child ended')
      this.#next()
    })
    return child
  }

  #overloaded(): ProviderError {
    return new ProviderError('overloaded', { sent: false, retryAfterS: this.#retryAfterS() })
  }

  #retryAfterS(): number {
    let waitingMs = 0
    for (const { job } of this.#queue.items()) waitingMs += job.expectedMs
    return Math.min(retryAfterMaxS, Math.max(1, Math.ceil(waitingMs / this.#options.processes / 1000)))
  }
}
