/**
 * Scheduled callbacks. Every statement reads or writes one organization's live or test rows, except the search for due
 * callbacks. Each status change is written with its event.
 *
 * Code that has locked a call's row must never wait for a callback's row. A callback's event waits for its call's row,
 * so the two would wait for each other.
 */
import { cancelled } from '../../domain/callbacks/moves.ts'
import type {
  CallbackChange,
  CallbackFilter,
  CallbackPage,
  CallbackPosition,
  CallbackStore,
  PlacedAttempt,
} from '../../domain/callbacks/store.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { CallEvent } from '../../domain/records/call.ts'
import type { Callback, WholeCallback } from '../../domain/records/callback.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { CallStatus } from '../../domain/records/states/call.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { notifyCallChange } from './call-changes.ts'
import { insertEvents } from './call-entries.ts'
import { ofCall } from './call-rows.ts'
import { insertCallback, isCallbackId, readCallbacks, readWhole, updateCallback } from './callback-rows.ts'

export type CallbackStoreDeps = {
  worlds: Worlds & Pick<Tenancy, 'asOperator'>
  clock: Clock
  /** Makes the id for an event, a UUIDv7. */
  eventId: () => string
}

export function createCallbackStore(deps: CallbackStoreDeps): CallbackStore {
  const { worlds, clock } = deps
  return {
    find: async (tenant, id) => {
      if (!isCallbackId(id)) return null
      return worlds.asTenant(tenant, async (tx) => (await readWhole(tx, ofId(tx, tenant, id)))[0] ?? null)
    },
    attempt: (callback) => worlds.asTenant(callback, (tx) => attemptOf(tx, callback)),
    list: (tenant, filter, limit, after) => worlds.asTenant(tenant, (tx) => list(tx, tenant, filter, limit, after)),
    ofSession: async (tenant, sessionId) => {
      if (!isUuid(sessionId)) return null
      return worlds.asTenant(tenant, (tx) => lastOfSession(tx, tenant, sessionId))
    },
    change: async (tenant, id, change) => {
      if (!isCallbackId(id)) return null
      return worlds.asTenant(tenant, async (tx) => {
        const [callback] = await readCallbacks(tx, tx`${ofId(tx, tenant, id)} for update`)
        if (callback === undefined) return null
        await write(tx, deps, change(callback))
        return (await readWhole(tx, ofId(tx, tenant, id)))[0] ?? null
      })
    },
    changeDue: (limit, change) =>
      worlds.asOperator(async (tx) => {
        const now = new Date(clock.nowMs())
        const due = await readCallbacks(
          tx,
          tx`where (b.status = 'scheduled' and b.next_try_at <= ${now}) or (b.status = 'dispatching' and b.leased_until <= ${now})
            order by b.next_try_at limit ${limit} for update skip locked`,
        )
        const changed = due.map(change)
        // Each write locks its call. All processes lock the calls in this order, so two processes cannot wait for each
        // other.
        const bySession = (one: Callback, other: Callback) => one.sourceSessionId.localeCompare(other.sourceSessionId)
        for (const callback of changed.toSorted(bySession)) await write(tx, deps, { callback })
        return changed
      }),
  }
}

async function attemptOf(tx: Tx, { organizationId, test, lease }: Callback): Promise<PlacedAttempt | null> {
  const [placed] = await tx<PlacedAttempt[]>`
    select c.id as "sessionId", c.phone->>'phoneNumberId' as "phoneNumberId", c.phone->>'from' as "fromNumber",
      exists (select from call_legs l where l.organization_id = c.organization_id and l.test = c.test and l.call_id = c.id
        and l.carrier_leg_id is not null) as "isDialed"
    from calls c ${ofCall(tx, { organizationId, test }, lease?.id ?? '')}`
  return placed ?? null
}

/** Returns the session's last promised callback. */
export async function lastOfSession(tx: Tx, tenant: Tenant, sessionId: string): Promise<WholeCallback | null> {
  return (await readWhole(tx, lastOf(tx, tenant, sessionId)))[0] ?? null
}

const ofId = (tx: Tx, { organizationId, test }: Tenant, id: string) =>
  tx`where b.organization_id = ${organizationId} and b.test = ${test} and b.id = ${id}`

const lastOf = (tx: Tx, { organizationId, test }: Tenant, sessionId: string) =>
  tx`where b.organization_id = ${organizationId} and b.test = ${test} and b.source_session_id = ${sessionId}
    order by b.created_at desc, b.id desc limit 1`

async function list(
  tx: Tx,
  { organizationId, test }: Tenant,
  { status, sourceSessionId }: CallbackFilter,
  limit: number,
  after: CallbackPosition | null,
): Promise<CallbackPage> {
  const rows = await readWhole(
    tx,
    tx`where b.organization_id = ${organizationId} and b.test = ${test}
      ${status === undefined ? tx`` : tx`and b.status = ${status}`}
      ${sourceSessionId === undefined ? tx`` : tx`and b.source_session_id = ${sourceSessionId}`}
      ${after === null ? tx`` : tx`and (b.created_at, b.id) < (${new Date(after.createdAtMs)}, ${after.id})`}
      order by b.created_at desc, b.id desc limit ${limit + 1}`,
  )
  const page = rows.slice(0, limit)
  const last = page.at(-1)?.callback
  const next = rows.length > limit && last ? { createdAtMs: last.createdAtMs, id: last.id } : null
  return { callbacks: page, next }
}

async function write(tx: Tx, deps: CallbackStoreDeps, { callback, payload = {} }: CallbackChange): Promise<void> {
  await updateCallback(tx, callback)
  const session = { ...callback, id: callback.sourceSessionId }
  const [call] = await tx<{ status: CallStatus }[]>`
    select status from calls ${ofCall(tx, session, session.id)} for no key update`
  const nowMs = deps.clock.nowMs()
  const event: CallEvent = {
    id: deps.eventId(),
    provider: 'service',
    type: `callback.${callback.status}`,
    status: call?.status ?? null,
    failureCause: callback.failureCause,
    occurredAtMs: nowMs,
    payload: { callback_id: callback.id, ...payload },
  }
  await insertEvents(tx, session, [event], nowMs)
  await notifyCallChange(tx, session)
}

/**
 * Stores a callback promised in a call. The call's row must be locked. The last promise counts, so the call's other
 * scheduled callbacks are cancelled, and their ids are returned. If another process is changing a callback at this
 * moment, the callback is not cancelled.
 */
export async function insertPromised(tx: Tx, promised: Callback): Promise<string[]> {
  const { organizationId, test, sourceSessionId, createdAtMs } = promised
  const replaced = await readCallbacks(
    tx,
    tx`where b.organization_id = ${organizationId} and b.test = ${test} and b.source_session_id = ${sourceSessionId}
      and b.status = 'scheduled' for update skip locked`,
  )
  for (const callback of replaced) await updateCallback(tx, cancelled(callback, createdAtMs))
  await insertCallback(tx, promised)
  return replaced.map(({ id }) => id)
}

/** Returns the session's last callback. */
export async function lastCallbackOf(
  tx: Tx,
  session: Tenant & { id: string },
): Promise<Pick<Callback, 'status'> | null> {
  const [last] = await tx<Pick<Callback, 'status'>[]>`
    select b.status from callbacks b ${lastOf(tx, session, session.id)}`
  return last ?? null
}

/** Returns the ids of an agent's callbacks in the status scheduled or dispatching. */
export async function callbacksOfAgent(
  tx: Tx,
  { organizationId, test }: Tenant,
  agentId: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from callbacks where organization_id = ${organizationId} and test = ${test} and agent_id = ${agentId}
      and status in ('scheduled', 'dispatching') order by next_try_at limit ${limit}`
  return rows.map(({ id }) => id)
}
