/**
 * Concurrency limits across all instances on one database. While there is only one instance, a lease costs no
 * statement.
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
 *   instances. While `moving`, a request waits. This process counts its leases in memory in every state, so each move
 *   starts from the truth.
 * - A starting instance writes its row and notifies the other instances. It serves when no other instance counts in
 *   memory any more. So each lease from memory is a row before the new instance grants its first lease. The new
 *   instance waits for two refresh periods at most: if another instance has not moved by then, that instance cannot
 *   reach the database.
 * - Every instance renews its row and counts the other instances each refresh period (or each quarter of its lease if
 *   this is shorter). So it notices a change within this time even if a notification is lost. If an instance is paused
 *   for longer than its lease, it finds its row gone at the next refresh and moves then. Until this refresh, and no
 *   longer, a limit can be exceeded.
 * - If an instance is killed, its rows count until its lease has run out. Then the other instances stop counting these
 *   rows. If only one instance is left, this instance moves back to memory.
 * - While the database does not answer, an instance does not change its state, and counts alone and grants. So a
 *   request that needs no database is served. A request with a price is refused, because its credit cannot be reserved.
 * - With `REDIS_URL` the same states are kept over Redis, and "rows" are fields there (store/redis). While Redis is
 *   unreachable, each instance also counts alone and grants.
 */
import type { ConcurrencyLimits, EndLease, LeaseKind, LeaseRefusal, Limits } from '../../domain/access/limits.ts'
import { createLocalLimits, type LocalLimits } from '../../domain/access/local-limits.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { Fault } from '../../domain/records/fault.ts'
import type { Instance } from './instances.ts'
import { createLeaseRows, type LeaseRows, type LeaseStatements } from './lease-rows.ts'

/**
 * The known number of live instances is at most this old. The value must be the same in every instance, because a
 * starting instance waits two such periods for the others.
 */
export const refreshMs = 1_000

export type SharedLimitsParts = {
  clock: Clock
  log: Log
  /** `instance` and `leases` must both use Postgres, or both Redis. */
  instance: Instance
  leases: LeaseStatements
}

export class SharedLimits implements Limits {
  readonly #clock: Clock
  readonly #log: Log
  readonly #instance: Instance
  readonly #rows: LeaseRows
  readonly #local: LocalLimits
  #counting: 'memory' | 'moving' | 'rows' = 'rows'
  /** Resolves when the last move has ended or failed. */
  #moved: Promise<void> = Promise.resolve()
  #live = 1
  #isServing = false
  /**
   * True if a statement or a move failed, so the rows may differ from the held leases. The next refresh writes all rows
   * again.
   */
  #isUncertain = false
  #notified = () => {}
  /**
   * Renews this instance's row and counts the other instances. If their number has changed, moves between `memory` and
   * `rows`.
   */
  readonly refresh = once(() => this.#look())

  constructor({ clock, log, instance, leases }: SharedLimitsParts) {
    this.#clock = clock
    this.#log = log
    this.#instance = instance
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

  /** Counts leases with an unfinished statement. */
  waiting(): number {
    return this.#rows.waiting()
  }

  /** The number of live instances at the last refresh, including this instance. */
  get liveInstances(): number {
    return this.#live
  }

  /** Registers this instance. Resolves when it may serve. */
  async join(): Promise<void> {
    await this.#instance.listen(() => this.#changed())
    if (await this.#instance.join()) this.#counting = 'memory'
    else await this.#othersInRows()
    this.#isServing = true
    // Another instance may have started before this line, so the instances are counted again.
    await this.refresh()
  }

  /** Removes dead instances' leases. */
  sweep(): Promise<void> {
    return this.#rows.sweep()
  }

  /** Writes ended leases, and removes this instance's row. */
  async leave(): Promise<void> {
    this.#isServing = false
    // If a refresh is under way, it would write the row again after its removal. So the refresh must end first.
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
      if (!(error instanceof Fault && error.kind === 'store_unreachable')) throw error
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
    // If rows were removed, their instances may still live, because all rows run out during a database outage. So this
    // instance waits for the next refresh. Until then, living instances can write their rows again.
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
      // The move may fail after the ended leases are dropped here. Then all rows must be written again.
      this.#isUncertain = true
      this.#rows.forgetEnds()
      if (to === 'rows') await this.#instance.countInRows(this.#local.leasesByKey())
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

  /** Waits until every other instance counts in rows, for two refresh periods at most. */
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

/** Returns a function that never runs `work` twice at once. If it is called during a run, `work` runs once more. */
function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let isRequested = false
  async function run(): Promise<void> {
    try {
      do {
        isRequested = false
        await work()
      } while (isRequested)
    } finally {
      running = null
    }
  }
  return () => {
    isRequested = true
    return (running ??= run())
  }
}
