/** Streams an organization's calls when they change, so a list of calls stays up to date. */
import type { CancelSignal, Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { type OpenStream, OpenStreams } from '../streams/open-streams.ts'
import type { CallFilter, CallOverview, CallStore, CallsChanges } from './store.ts'

/** `gone`: a changed call is outside the filter. `resync`: the client must read the list again. */
export type FollowedCalls =
  | { kind: 'open' }
  | { kind: 'call'; call: CallOverview }
  | { kind: 'gone'; id: string }
  | { kind: 'resync' }
  | { kind: 'end' }

export type FollowCallsDeps = {
  calls: Pick<CallStore, 'overviewsOf'>
  changes: CallsChanges
  clock: Pick<Clock, 'after'>
}

/** Rejects with the fault `too_many_at_once` if the tenant has `streamsMax` streams in this process. */
export type FollowCalls = (
  tenant: Tenant,
  filter: CallFilter,
  signal: CancelSignal,
) => Promise<AsyncIterable<FollowedCalls>>

const streamsMax = 8
/** The pause between two reads. If a call changes more often, it is sent once. */
const everyMs = 1000
/** If more calls change between two reads, the client reads the whole list again, because this costs less. */
const changedMax = 50

export function createFollowCalls(deps: FollowCallsDeps): FollowCalls {
  const streams = new OpenStreams(deps.clock, { streamsMax, limit: 'organization' })
  return (tenant, filter, signal) => {
    const name = `${tenant.organizationId} ${tenant.test}`
    return Promise.resolve().then(() => follow(deps, tenant, filter, streams.open(name, signal)))
  }
}

async function* follow(
  { calls, changes, clock }: FollowCallsDeps,
  tenant: Tenant,
  filter: CallFilter,
  stream: OpenStream,
): AsyncGenerator<FollowedCalls> {
  const changed = new ChangedCalls(clock)
  const end = yield* stream.read({
    watch: (ring) => changed.watch(changes, tenant, ring),
    news: () => newsOf(changed, (ids) => calls.overviewsOf(tenant, filter, ids)),
    isOver: () => false,
  })
  if (end === 'timeout') yield { kind: 'end' }
}

async function* newsOf(
  changed: ChangedCalls,
  read: (ids: readonly string[]) => Promise<readonly CallOverview[]>,
): AsyncGenerator<FollowedCalls> {
  const { isFirst, ids } = changed.take()
  // The watch has begun, so a client that reads the list after this event misses no change.
  if (isFirst) yield { kind: 'open' }
  if (ids === null) yield { kind: 'resync' }
  if (ids === null || ids.length === 0) return
  const found = new Map((await read(ids)).map((call) => [call.id, call]))
  for (const id of ids) {
    const call = found.get(id)
    yield call === undefined ? { kind: 'gone', id } : { kind: 'call', call }
  }
}

/** Gathers the ids of changed calls, and rings at most once in `everyMs`. */
class ChangedCalls {
  readonly #clock: Pick<Clock, 'after'>
  /** Null: the client must read the whole list again, so no call needs its own event. */
  #ids: Set<string> | null = new Set()
  #isFirst = true
  #ring = () => {}
  /** Null: there is no pause. */
  #endPause: (() => void) | null = null

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

  /** Returns what changed since the last call, and begins a pause. `ids` is null if the client must read the list. */
  take(): { isFirst: boolean; ids: readonly string[] | null } {
    if (this.#endPause !== null) return { isFirst: false, ids: [] }
    const taken = { isFirst: this.#isFirst, ids: this.#ids && [...this.#ids] }
    if (this.#hasNews()) this.#pause()
    this.#isFirst = false
    this.#ids = new Set()
    return taken
  }

  #hasNews(): boolean {
    return this.#ids === null || this.#ids.size > 0
  }

  #pause(): void {
    this.#endPause = this.#clock.after(everyMs, () => {
      this.#endPause = null
      if (this.#hasNews()) this.#ring()
    })
  }

  #add(id: string | null): void {
    if (id === null || (this.#ids?.add(id).size ?? 0) > changedMax) this.#ids = null
    if (this.#endPause === null) this.#ring()
  }
}
