/** Streams an organization's calls when they change, so a list of calls stays up to date. */
import type { CancelSignal, Clock } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { type OpenStream, OpenStreams } from '../streams/open-streams.ts'
import { ChangedCalls } from './changed-calls.ts'
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

/**
 * Opens a stream of the tenant's calls. Rejects with the fault `too_many_at_once` if the tenant has `streamsMax`
 * streams in this process.
 */
export type FollowCalls = (
  tenant: Tenant,
  filter: CallFilter,
  signal: CancelSignal,
) => Promise<AsyncIterable<FollowedCalls>>

const streamsMax = 8

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
