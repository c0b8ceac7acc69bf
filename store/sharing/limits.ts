/**
 * Concurrency limits that hold across all instances on one database, at the cost of memory while there is only one.
 *
 * ```
 *             another instance is alive: leases that are held are written as rows
 *   memory ────────────────────────► moving ────────────────────────► rows
 *     ▲                                                                 │
 *     └───────────────────────────── moving ◄───────────────────────────┘
 *               no other instance is alive: the rows are deleted
 * ```
 *
 * - In `memory`, a lease is granted at once, without a promise. In `rows`, Postgres counts the rows of all live
 *   instances. While `moving`, a request waits. This process counts its own leases in memory in every state, so
 *   each move starts from the truth.
 * - An instance that starts writes its row and notifies the others. It serves when no other instance counts in
 *   memory any more, so a lease that was granted in memory is a row before the newcomer grants its first one. It
 *   waits for two refresh periods at most: an instance that has not moved by then cannot reach the database.
 * - Every instance renews its row and counts the others each refresh period (each quarter of its lease where that
 *   is shorter), so it learns of a change within that time even when a notification is lost. An instance that was
 *   paused for longer than its lease finds its row gone at the next refresh and moves then: until that refresh, and
 *   no longer, a limit can be exceeded.
 * - The rows of an instance that was killed count until its lease has run out. Then the others stop counting it,
 *   and one that is left alone moves back to memory.
 * - While the database does not answer, an instance counts on as it did: in memory it goes on granting, in rows it
 *   refuses. Nearly all requests need the database for their credit anyway.
 * - With `REDIS_URL` the same states are kept over Redis, and "rows" are fields there (store/redis). A request needs
 *   Redis for nothing else, so while it is away each instance counts alone and grants.
 */
import type { ConcurrencyLimits, EndLease, LeaseKind, LeaseRefusal, Limits } from '../../domain/access/limits.ts'
import { createLocalLimits, type LocalLimits } from '../../domain/access/local-limits.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Instance } from './instances.ts'
import { createLeaseRows, type LeaseRows, type LeaseStatements } from './lease-rows.ts'

/**
 * How old the number of live instances may be. It is the same in every instance, because one that starts waits for
 * it.
 */
export const refreshMs = 1_000

export type SharedLimitsParts = {
  clock: Clock
  log: Log
  /** The two are of one place: Postgres, or Redis. */
  instance: Instance
  leases: LeaseStatements
  /** Whether this instance counts alone while the place does not answer, or refuses. */
  grantsWhileAway: boolean
}

export class SharedLimits implements Limits {
  readonly #clock: Clock
  readonly #log: Log
  readonly #instance: Instance
  readonly #rows: LeaseRows
  readonly #grantsWhileAway: boolean
  readonly #local: LocalLimits
  #counting: 'memory' | 'moving' | 'rows' = 'rows'
  /** Resolves when the last move has ended, also when it failed. */
  #moved: Promise<void> = Promise.resolve()
  #live = 1
  #isServing = false
  /**
   * The rows may differ from the leases that are held, because a statement or a move failed. The next refresh
   * writes all rows anew.
   */
  #isUncertain = false
  #notified = () => {}
  /** Renews this instance's row, counts the others and moves where that changed. */
  readonly refresh = once(() => this.#look())

  constructor({ clock, log, instance, leases, grantsWhileAway }: SharedLimitsParts) {
    this.#clock = clock
    this.#log = log
    this.#instance = instance
    this.#grantsWhileAway = grantsWhileAway
    const uncertain = () => {
      this.#isUncertain = true
    }
    this.#rows = createLeaseRows(leases, log, () => this.#counting === 'rows', uncertain)
    this.#local = createLocalLimits((organizationId, keyId, kind) => {
      if (this.#counting !== 'memory') this.#rows.end(organizationId, keyId, kind)
    })
  }

  acquire(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
    kind: LeaseKind,
  ): EndLease | LeaseRefusal | Promise<EndLease | LeaseRefusal> {
    if (this.#counting === 'memory') return this.#local.acquire(organizationId, keyId, limits, kind)
    return this.#acquireInRows(organizationId, keyId, limits, kind)
  }

  /** Leases whose statements are not over. */
  waiting(): number {
    return this.#rows.waiting()
  }

  /** Live instances, this one included, as of the last refresh. */
  get liveInstances(): number {
    return this.#live
  }

  /** Resolves when this instance may serve. */
  async join(): Promise<void> {
    await this.#instance.listen(() => this.#changed())
    if (await this.#instance.join()) this.#counting = 'memory'
    else await this.#othersInRows()
    this.#isServing = true
    // Another instance may have started before this line.
    await this.refresh()
  }

  /** Removes what dead instances held. */
  sweep(): Promise<void> {
    return this.#rows.sweep()
  }

  /** Writes the leases that have ended, and removes the row of this instance. */
  async leave(): Promise<void> {
    this.#isServing = false
    // A refresh under way would write the row again.
    await this.refresh().catch(() => {})
    await this.#rows.settle()
    await this.#rows.writeEnds()
    await this.#instance.leave()
  }

  async #acquireInRows(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
    kind: LeaseKind,
  ): Promise<EndLease | LeaseRefusal> {
    while (this.#counting === 'moving') await this.#moved
    if (this.#counting === 'memory') return this.#local.acquire(organizationId, keyId, limits, kind)
    try {
      const refusal = await this.#rows.acquire(organizationId, keyId, limits, kind)
      return refusal ?? this.#local.add(organizationId, keyId, kind)
    } catch (error) {
      this.#isUncertain = true
      if (!this.#grantsWhileAway) throw error
      return this.#local.acquire(organizationId, keyId, limits, kind)
    }
  }

  async #look(): Promise<void> {
    const { others, isIntact, hasRemoved } = await this.#instance.beat(this.#counting === 'memory')
    this.#live = others + 1
    if (!isIntact) this.#isUncertain = true
    if (others > 0) {
      if (this.#counting === 'memory' || this.#isUncertain) await this.#move('rows')
      return
    }
    // Instances that were just removed may live: an outage of the database lets all rows run out. They have until
    // the next look to come back.
    if (!hasRemoved && (this.#counting === 'rows' || this.#isUncertain)) await this.#move('memory')
  }

  async #move(to: 'memory' | 'rows'): Promise<void> {
    let next = this.#counting
    let end = () => {}
    this.#moved = new Promise((resolve) => {
      end = resolve
    })
    this.#counting = 'moving'
    try {
      await this.#rows.settle()
      // The ends are forgotten, so unless the move succeeds the rows must be written anew.
      this.#isUncertain = true
      this.#rows.forgetEnds()
      if (to === 'rows') await this.#instance.countInRows(this.#local.held())
      else if (!(await this.#instance.countInMemory())) return
      next = to
      this.#isUncertain = false
    } finally {
      this.#counting = next
      if (next === 'memory') this.#rows.forgetEnds()
      else void this.#rows.writeEnds()
      end()
    }
  }

  #changed(): void {
    this.#notified()
    if (!this.#isServing) return
    this.refresh().catch((err: unknown) => {
      this.#log.warn({ err }, 'instances could not be counted, it is tried again')
    })
  }

  /** Waits until every other instance counts in rows. */
  async #othersInRows(): Promise<void> {
    let isLate = false
    const cancel = this.#clock.after(2 * refreshMs, () => {
      isLate = true
      this.#notified()
    })
    try {
      while (!isLate) {
        const notified = new Promise<void>((resolve) => {
          this.#notified = resolve
        })
        if ((await this.#instance.othersInMemory()) === 0) return
        await notified
      }
      this.#log.warn({}, 'another instance did not answer: limits can be exceeded until it does or its lease runs out')
    } finally {
      cancel()
    }
  }
}

/** Runs `work` once at a time. A call while it runs makes it run once more. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let isWanted = false
  async function run(): Promise<void> {
    try {
      do {
        isWanted = false
        await work()
      } while (isWanted)
    } finally {
      running = null
    }
  }
  return () => {
    isWanted = true
    return (running ??= run())
  }
}
