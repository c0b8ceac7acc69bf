/** SQL conditions for lists with calls. */
import type { CallFilter, CallPosition } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { timestampOf } from './call-times.ts'

type Condition = ReturnType<typeof timeCondition>

/** Returns the conditions on the table `calls`: the tenant, the filter, and the position before the page. */
export function callsThatMatch(tx: Tx, tenant: Tenant, filter: CallFilter, after: CallPosition | null): Condition {
  const { organizationId, test } = tenant
  const { status, kind, agentId, endReason, isLive } = filter
  const equal = (column: string, value: string | undefined) =>
    value === undefined ? tx`` : tx`and ${tx(column)} = ${value}`
  return tx`
    organization_id = ${organizationId} and test = ${test}
    ${equal('status', status)} ${equal('kind', kind)} ${equal('agent_id', agentId)} ${equal('end_reason', endReason)}
    ${isLive === undefined ? tx`` : tx`and (ended_at is null) = ${isLive}`}
    ${phoneCondition(tx, filter)} ${durationCondition(tx, filter)} ${outcomeCondition(tx, filter)}
    ${timeCondition(tx, filter, after)}`
}

function timeCondition(tx: Tx, { fromMs, toMs }: CallFilter, after: CallPosition | null) {
  return tx`
    ${fromMs === undefined ? tx`` : tx`and created_at >= ${new Date(fromMs)}`}
    ${toMs === undefined ? tx`` : tx`and created_at < ${new Date(toMs)}`}
    ${after === null ? tx`` : tx`and (created_at, id) < (${timestampOf(after.createdAtUs)}::text::timestamptz, ${after.id})`}`
}

function phoneCondition(tx: Tx, { direction, phoneNumberId, number }: CallFilter): Condition {
  const equal = (field: string, value: string | undefined) =>
    value === undefined ? tx`` : tx`and (phone->${field})::text = ${JSON.stringify(value)}`
  const ending = `${number?.startsWith('+') ? '"' : '%'}${number}"`
  return tx`
    ${equal('direction', direction)} ${equal('phoneNumberId', phoneNumberId)}
    ${number === undefined ? tx`` : tx`and ((phone->'from')::text like ${ending} or (phone->'to')::text like ${ending})`}`
}

/** The duration is rounded up, and 0 if the call was never connected (`durationS` of a call). */
function durationCondition(tx: Tx, { minDurationS, maxDurationS }: CallFilter): Condition {
  if (minDurationS === undefined && maxDurationS === undefined) return tx``
  return tx`
    and ended_at is not null and ceil(coalesce(extract(epoch from ended_at - started_at), 0))
      between ${minDurationS ?? 0} and ${maxDurationS ?? Number.MAX_SAFE_INTEGER}`
}

function outcomeCondition(tx: Tx, { outcome }: CallFilter): Condition {
  if (outcome === undefined) return tx``
  return tx`
    and exists (
      select from call_reports r
      where r.organization_id = calls.organization_id and r.test = calls.test and r.call_id = calls.id
        and r.outcome = ${outcome})`
}
