/**
 * Notices when the database is dead, frozen or unreachable. Until a probe succeeds, all work is refused at once with
 * the fault store_unreachable. Otherwise requests would wait, and fill the limits of all other requests.
 *
 * ```
 *             a lost connection, or silence                       no answer
 *   normal ──────────────────────────────────► suspected ───────────────────────► away
 *     ▲                an answer                   │         an answer             │
 *     └────────────────────────────────────────────┴───────────────────────────────┘
 * ```
 *
 * - An answer to any work or to a probe shows that the database lives. Silence only counts while work is under way.
 * - A probe is under way for half of the deadline before the state becomes `away` (unreachable). So a slow statement
 *   alone, or a long distance to the database, is not an outage.
 * - Time is counted in ticks. If this process or its machine is too busy for a tick, the lost time does not count
 *   against the database.
 * - After a refusal the statement may still be under way. `late` runs when it has ended, so its effect can be undone.
 */
import { Fault } from '../../domain/records/fault.ts'
import type { Sql } from './connect.ts'
import { asFault, isAnswer, isLost } from './unavailable.ts'

export type OutageParts = {
  /** The deadline of a batch. A silent database counts as unreachable after three quarters of this time. */
  deadlineMs: number
  /** Resolves if the database answers a trivial statement. It must end within about `probeEveryMs`. */
  probe: () => Promise<void>
  /** Called when an outage is detected and when it ends. */
  changed: (isAway: boolean) => void
}

export type Work<T> = {
  /** `isRefused` becomes true if the calling code waits no longer. Then the work must not commit. */
  run: (state: { readonly isRefused: boolean }) => Promise<T>
  /** True: the work is refused at its deadline, even if the database answers other work. */
  hasDeadline?: boolean
  /** Called when refused work has ended, whether it succeeded or failed. */
  late?: () => void
}

type Pending = { isRefused: boolean; hasDeadline: boolean; startedAt: number; reject: (error: unknown) => void }

const ticksInDeadline = 20
const ticksToSuspect = 5
const ticksToAway = 15
const ticksBetweenTries = 2
const probeEveryMs = 1_000

export class Outage {
  readonly #parts: OutageParts
  readonly #tickMs: number
  /** Work under way, the oldest first. */
  readonly #pending = new Set<Pending>()
  #state: 'normal' | 'suspected' | 'away' = 'normal'
  #timer: NodeJS.Timeout | null = null
  /** The current tick's number. The next members are tick numbers too. */
  #now = 0
  #answeredAt = 0
  #suspectedAt = 0
  #probeAt = 0
  #isProbing = false
  #isClosed = false
  readonly #returns: (() => void)[] = []

  constructor(parts: OutageParts) {
    this.#parts = parts
    this.#tickMs = parts.deadlineMs / ticksInDeadline
  }

  get isAway(): boolean {
    return this.#state === 'away'
  }

  /** Calls the function each time the database is back. */
  onReturn(run: () => void): void {
    this.#returns.push(run)
  }

  run<T>({ run, hasDeadline = false, late }: Work<T>): Promise<T> {
    if (this.isAway) return Promise.reject(away())
    return new Promise((resolve, reject) => {
      const pending: Pending = { isRefused: false, hasDeadline, startedAt: this.#now, reject }
      if (this.#pending.size === 0) this.#answeredAt = this.#now
      this.#pending.add(pending)
      this.#startTicking()
      run(pending).then(
        (answer) => {
          this.#pending.delete(pending)
          this.#answered()
          if (pending.isRefused) late?.()
          resolve(answer)
        },
        (error: unknown) => {
          this.#failed(pending, error)
          if (pending.isRefused) late?.()
          pending.reject(asFault(error))
        },
      )
    })
  }

  #failed(pending: Pending, error: unknown): void {
    this.#pending.delete(pending)
    if (isAnswer(error)) this.#answered()
    else if (isLost(error) && !pending.isRefused) this.#suspect(this.#now)
  }

  /** Ends the ticks and the probes. */
  close(): void {
    this.#isClosed = true
    this.#stopTicking()
  }

  #startTicking(): void {
    if (!this.#isClosed) this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref()
  }

  /** Stops the ticks if no work is under way. The wait for the next probe is counted in ticks, so it is reset here. */
  #rest(): void {
    this.#probeAt = 0
    this.#stopTicking()
  }

  #stopTicking(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #tick(): void {
    this.#now += 1
    this.#refuseOverdue()
    if (this.#state === 'normal') {
      if (this.#pending.size === 0) return this.#rest()
      const isSilent = this.#now - this.#answeredAt >= ticksToSuspect
      if (isSilent && this.#now >= this.#probeAt) this.#suspect(this.#now - ticksToSuspect)
    }
    if (this.#state === 'suspected' && this.#now - this.#suspectedAt >= ticksToAway) this.#goAway()
    if (this.#state !== 'normal' && this.#now >= this.#probeAt) void this.#probe()
  }

  #refuseOverdue(): void {
    for (const pending of this.#pending) {
      if (this.#now - pending.startedAt < ticksInDeadline) break
      if (pending.hasDeadline) this.#refuse(pending)
    }
  }

  #refuse(pending: Pending): void {
    this.#pending.delete(pending)
    pending.isRefused = true
    pending.reject(away())
  }

  #suspect(sinceTick: number): void {
    if (this.#state !== 'normal') return
    this.#state = 'suspected'
    this.#suspectedAt = sinceTick
    this.#startTicking()
    void this.#probe()
  }

  #goAway(): void {
    this.#state = 'away'
    for (const pending of this.#pending) this.#refuse(pending)
    this.#parts.changed(true)
  }

  #answered(): void {
    const wasAway = this.isAway
    this.#answeredAt = this.#now
    this.#state = 'normal'
    if (!wasAway) return
    this.#parts.changed(false)
    for (const run of this.#returns) run()
  }

  async #probe(): Promise<void> {
    if (this.#isProbing || this.#isClosed) return
    this.#isProbing = true
    const beganAt = this.#now
    const isLive = await this.#parts.probe().then(() => true, isAnswer)
    this.#isProbing = false
    this.#probeAt = this.#nextProbeAt(isLive, beganAt)
    if (isLive && !this.#isClosed) this.#answered()
  }

  #nextProbeAt(isLive: boolean, beganAt: number): number {
    const everyTicks = probeEveryMs / this.#tickMs
    // After a success the next suspicion waits a second. Otherwise slow work would cause a probe every few ticks.
    if (isLive) return this.#now + everyTicks
    // A probe without an answer lasts a second too. If the next probe waited after its end, the database's return would
    // be noticed up to two seconds later.
    return this.isAway ? beganAt + everyTicks : this.#now + ticksBetweenTries
  }
}

function away(): Fault {
  return new Fault({ kind: 'store_unreachable' }, { retryAfterS: 1 })
}

const outages = new WeakMap<Sql, Outage>()

/** From now on `guard` watches the work on these connections. */
export function watchFor(outage: Outage, connections: readonly Sql[]): void {
  for (const sql of connections) outages.set(sql, outage)
}

/**
 * Runs work on the connections, and refuses it while their database is unreachable. A command does not watch for
 * outages, so there the work simply runs. Failures become faults as in `asFault`.
 */
export function guard<T>(sql: Sql, work: Work<T>): Promise<T> {
  const outage = outages.get(sql)
  if (outage !== undefined) return outage.run(work)
  return work.run({ isRefused: false }).catch((error: unknown) => {
    throw asFault(error)
  })
}

/** Runs a batch, or a statement that a request waits for. It has a deadline. */
export function inTime<T>(sql: Sql, run: () => Promise<T>, late?: () => void): Promise<T> {
  return guard(sql, { run, hasDeadline: true, ...(late && { late }) })
}

/** Calls the function each time the database is back after an outage. */
export function onReturn(sql: Sql, run: () => void): void {
  outages.get(sql)?.onReturn(run)
}

/** True while the database is unreachable, and the outage is detected. */
export function isAway(sql: Sql): boolean {
  return outages.get(sql)?.isAway === true
}
