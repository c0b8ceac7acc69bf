/**
 * Gathers the ids of changed calls for a client's stream of all calls, and wakes the stream at most once a second. If
 * too many calls change in a second, the client must read the whole list again. Every client of the organization then
 * reads the list, so a longer pause follows. The pause grows until few calls change in a second.
 */
import type { Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import type { CallsChanges } from './store.ts'

/** The pause between two reads. If a call changes more often, it is sent once. */
const everyMs = 1000
/** If more calls change in a second, the client reads the whole list again, because this costs less. */
const changedMax = 50
/** The pause after a second with too many changes. Each further such second doubles it. */
const busyPauseMs = 10_000
const busyPauseMsMax = 60_000

export type Changed = {
  isFirst: boolean
  /** Null: the client must read the whole list again. */
  ids: readonly string[] | null
}

export class ChangedCalls {
  readonly #clock: Pick<Clock, 'after'>
  /** The calls that changed in the last second. Null: more calls changed than `changedMax`. */
  #ids: Set<string> | null = new Set()
  /** True: calls changed before the last second, or changes may be missing. */
  #isIncomplete = false
  #isFirst = true
  #ring = () => {}
  /** Null: there is no pause. */
  #endPause: (() => void) | null = null
  #nextBusyPauseMs = busyPauseMs

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  watch(changes: CallsChanges, tenant: Tenant, ring: () => void): () => void {
    this.#ring = ring
    const unwatch = changes.watch(tenant, (id) => this.#add(id))
    return () => {
      this.#endPause?.()
      unwatch()
    }
  }

  /** Returns the changes since `take` was last called, and begins a pause. */
  take(): Changed {
    if (this.#endPause !== null) return { isFirst: false, ids: [] }
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (!this.#hasNews()) return { isFirst, ids: [] }
    const ids = this.#ids === null || this.#isIncomplete ? null : [...this.#ids]
    this.#pause(this.#pauseMs())
    this.#ids = new Set()
    this.#isIncomplete = false
    return { isFirst, ids }
  }

  #hasNews(): boolean {
    return this.#isIncomplete || this.#ids === null || this.#ids.size > 0
  }

  /** Returns the length of the next pause: longer if too many calls changed in the last second. */
  #pauseMs(): number {
    const isBusy = this.#ids === null
    const ms = isBusy ? this.#nextBusyPauseMs : everyMs
    this.#nextBusyPauseMs = isBusy ? Math.min(ms * 2, busyPauseMsMax) : busyPauseMs
    return ms
  }

  #pause(ms: number): void {
    if (ms > everyMs) this.#endPause = this.#clock.after(ms - everyMs, () => this.#beginLastSecond())
    else
      this.#endPause = this.#clock.after(ms, () => {
        this.#endPause = null
        if (this.#hasNews()) this.#ring()
      })
  }

  /**
   * Only the last second of a long pause decides how long the next pause is. Changes before it only mean that the
   * client must read the whole list again.
   */
  #beginLastSecond(): void {
    this.#isIncomplete = this.#hasNews()
    this.#ids = new Set()
    this.#pause(everyMs)
  }

  #add(id: string | null): void {
    if (id === null) this.#isIncomplete = true
    else if (this.#ids && this.#ids.add(id).size > changedMax) this.#ids = null
    if (this.#endPause === null) this.#ring()
  }
}
