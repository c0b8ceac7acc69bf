/** Notifies processes of changes to calls. Postgres sends each NOTIFY when the change's transaction commits. */
import type { CallChanges, CallsChanges } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { Watchers } from '../caches/watchers.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { nameOf } from '../postgres/tenant.ts'

const channel = 'parley_calls'
/**
 * The channel for a tenant's stream with all calls. Its payload has the tenant too. The channel `parley_calls` must
 * keep its payload, because processes from an earlier version listen on it.
 */
const listChannel = 'parley_listed_calls'

type Changed = Tenant & { id: string }

const payloadOf = (call: Changed) => `${nameOf(call)}\n${call.id}`

export async function notifyCallChange(tx: Tx, call: Changed): Promise<void> {
  await tx`select pg_notify(${channel}, ${call.id}), pg_notify(${listChannel}, ${payloadOf(call)})`
}

/** Notifies only the streams with all calls, because the changed value is not in a single call's stream. */
export async function notifyLists(tx: Tx, call: Changed): Promise<void> {
  await tx`select pg_notify(${listChannel}, ${payloadOf(call)})`
}

export type ListeningCallChanges = {
  ofCall: CallChanges
  ofCalls: CallsChanges
  /** Resolves as soon as changes arrive. */
  listen(): Promise<void>
}

export function createCallChanges(sql: Sql): ListeningCallChanges {
  const calls = new Watchers()
  const lists = new Watchers()
  return {
    ofCall: { watch: (callId, run) => calls.watch(callId, run) },
    ofCalls: { watch: (tenant, changed) => lists.watch(nameOf(tenant), changed) },
    listen: async () => {
      await calls.listen(sql, channel)
      await lists.listen(sql, listChannel)
    },
  }
}
