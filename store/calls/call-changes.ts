/** Notifies processes of changes to calls. Postgres sends each NOTIFY when the change's transaction commits. */
import type { CallChanges, CallsChanges } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { Watchers } from '../caches/watchers.ts'
import type { Sql, Tx } from '../postgres/connect.ts'

const channel = 'parley_calls'
/**
 * The channel for a tenant's stream with all calls. Its payload has the tenant too. The channel `parley_calls` must
 * keep its payload, because processes from an earlier version listen on it.
 */
const listChannel = 'parley_listed_calls'

type Changed = Tenant & { id: string }

const nameOf = ({ organizationId, test }: Tenant) => `${organizationId} ${test ? 'test' : 'live'}`
const payloadOf = (call: Changed) => `${call.id} ${nameOf(call)}`

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
  const watchers = new Watchers()
  const lists = new ListWatchers()
  return {
    ofCall: { watch: (callId, run) => watchers.watch(callId, run) },
    ofCalls: { watch: (tenant, changed) => lists.watch(nameOf(tenant), changed) },
    listen: async () => {
      await watchers.listen(sql, channel)
      await sql.listen(
        listChannel,
        (payload) => lists.changed(payload),
        () => lists.missed(),
      )
    },
  }
}

type Watch = (callId: string | null) => void

class ListWatchers {
  readonly #byTenant = new Map<string, Set<Watch>>()

  watch(tenant: string, changed: Watch): () => void {
    const ofTenant = this.#byTenant.get(tenant) ?? new Set()
    this.#byTenant.set(tenant, ofTenant.add(changed))
    return () => {
      ofTenant.delete(changed)
      if (ofTenant.size === 0 && this.#byTenant.get(tenant) === ofTenant) this.#byTenant.delete(tenant)
    }
  }

  changed(payload: string): void {
    const [callId = '', ...tenant] = payload.split(' ')
    for (const watch of this.#byTenant.get(tenant.join(' ')) ?? []) watch(callId)
  }

  /** The driver listens again after each lost connection, and changes may have been missed before that. */
  missed(): void {
    for (const ofTenant of this.#byTenant.values()) for (const watch of ofTenant) watch(null)
  }
}
