/** Reads callbacks from their rows, and writes them. */
import type { Callback, CallbackFailure, WholeCallback } from '../../domain/records/callback.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { CallbackStatus } from '../../domain/records/states/callback.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull, storable } from '../postgres/row-values.ts'

type Row = Tenant & {
  id: string
  sourceSessionId: string
  createdSessionId: string | null
  agentId: string | null
  phoneNumberId: string | null
  toNumber: string
  fromNumber: string | null
  scheduledAt: Date
  status: CallbackStatus
  reason: string | null
  instructions: string | null
  failureCause: CallbackFailure | null
  attemptedAt: Date | null
  dispatchedAt: Date | null
  cancelledAt: Date | null
  createdAt: Date
  updatedAt: Date
  tries: number
  nextTryAt: Date
  leaseId: string | null
  leasedUntil: Date | null
}
type WholeRow = Row & Omit<WholeCallback, 'callback'>

type Part = ReturnType<typeof columns>

const idForm = /^callback_[0-9A-Za-z]{22}$/

/**
 * Returns true if the text has the form of a callback's id. Other text names no callback, so no statement searches for
 * it.
 */
export function isCallbackId(id: string): boolean {
  return idForm.test(id)
}

const columns = (tx: Tx) => tx`
  b.organization_id as "organizationId", b.test, b.id, b.source_session_id as "sourceSessionId",
  b.created_session_id as "createdSessionId", b.agent_id as "agentId", b.phone_number_id as "phoneNumberId",
  b.to_number as "toNumber", b.from_number as "fromNumber", b.scheduled_at as "scheduledAt", b.status, b.reason,
  b.instructions, b.failure_cause as "failureCause", b.attempted_at as "attemptedAt", b.dispatched_at as "dispatchedAt",
  b.cancelled_at as "cancelledAt", b.created_at as "createdAt", b.updated_at as "updatedAt", b.tries,
  b.next_try_at as "nextTryAt", b.lease_id as "leaseId", b.leased_until as "leasedUntil"`

/** Reads callbacks with their source sessions' data. `whereClause` begins with `where` and calls the table `b`. */
export async function readWhole(tx: Tx, whereClause: Part): Promise<WholeCallback[]> {
  const rows = await tx<WholeRow[]>`
    select ${columns(tx)}, c.pipeline, c.metadata, c.webhook_tags as "webhookTags", nullif(r.summary, '') as summary
    from callbacks b
      join calls c on c.organization_id = b.organization_id and c.test = b.test and c.id = b.source_session_id
      left join call_reports r on r.organization_id = c.organization_id and r.test = c.test and r.call_id = c.id
    ${whereClause}`
  return rows.map(({ pipeline, metadata, webhookTags, summary, ...row }) => ({
    callback: callbackOf(row),
    pipeline,
    metadata,
    webhookTags,
    summary,
  }))
}

/** Reads callbacks. `whereClause` begins with `where` and calls the table `b`. */
export async function readCallbacks(tx: Tx, whereClause: Part): Promise<Callback[]> {
  const rows = await tx<Row[]>`select ${columns(tx)} from callbacks b ${whereClause}`
  return rows.map(callbackOf)
}

function callbackOf(row: Row): Callback {
  const { scheduledAt, attemptedAt, dispatchedAt, cancelledAt, createdAt, updatedAt, nextTryAt, ...rest } = row
  const { leaseId, leasedUntil, ...callback } = rest
  return {
    ...callback,
    scheduledAtMs: scheduledAt.getTime(),
    attemptedAtMs: attemptedAt?.getTime() ?? null,
    dispatchedAtMs: dispatchedAt?.getTime() ?? null,
    cancelledAtMs: cancelledAt?.getTime() ?? null,
    createdAtMs: createdAt.getTime(),
    updatedAtMs: updatedAt.getTime(),
    nextTryAtMs: nextTryAt.getTime(),
    lease: leaseId === null || leasedUntil === null ? null : { id: leaseId, untilMs: leasedUntil.getTime() },
  }
}

export async function insertCallback(tx: Tx, callback: Callback): Promise<void> {
  const { organizationId, test, id, sourceSessionId, agentId, toNumber, status, tries } = callback
  await tx`
    insert into callbacks (organization_id, test, id, source_session_id, agent_id, to_number, scheduled_at, status, reason,
      instructions, created_at, updated_at, tries, next_try_at)
    values (${organizationId}, ${test}, ${id}, ${sourceSessionId}, ${agentId}, ${toNumber},
      ${new Date(callback.scheduledAtMs)}, ${status}, ${storableOrNull(callback.reason)}, ${storableOrNull(callback.instructions)},
      ${new Date(callback.createdAtMs)}, ${new Date(callback.updatedAtMs)}, ${tries}, ${new Date(callback.nextTryAtMs)})`
}

/** Writes all columns that can change. */
export async function updateCallback(tx: Tx, callback: Callback): Promise<void> {
  const { organizationId, test, id, createdSessionId, phoneNumberId, fromNumber, status, lease } = callback
  await tx`
    update callbacks set created_session_id = ${createdSessionId}, phone_number_id = ${phoneNumberId},
      from_number = ${fromNumber}, status = ${status}, failure_cause = ${callback.failureCause},
      attempted_at = ${dateOrNull(callback.attemptedAtMs)}, dispatched_at = ${dateOrNull(callback.dispatchedAtMs)},
      cancelled_at = ${dateOrNull(callback.cancelledAtMs)}, updated_at = ${new Date(callback.updatedAtMs)},
      tries = ${callback.tries}, next_try_at = ${new Date(callback.nextTryAtMs)}, lease_id = ${lease?.id ?? null},
      leased_until = ${dateOrNull(lease?.untilMs ?? null)}
    where organization_id = ${organizationId} and test = ${test} and id = ${id}`
}

const storableOrNull = (text: string | null) => text && storable(text)
