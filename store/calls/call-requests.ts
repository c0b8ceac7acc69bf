/** Reads the speech and LLM requests of a call, with their attempts at providers. */
import type { LedgerAttempt } from '../../domain/billing/ledger.ts'
import type { CallRequest, CallRequests } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { readableJson } from '../postgres/row-values.ts'
import { ofCallId } from './call-rows.ts'

/** The contract's limit for one HTTP response. */
const requestsMax = 10_000

type Row = Omit<CallRequest, 'startedAtMs' | 'attempts' | 'turnIndex'> & { startedAt: Date }
type AttemptRow = Omit<LedgerAttempt, 'startedAtMs'> & { requestId: string; startedAt: Date }

export async function readCallRequests(tx: Tx, tenant: Tenant, callId: string): Promise<CallRequests> {
  const [rows, attempts, turns, summed] = await Promise.all([
    readRequests(tx, tenant, callId),
    readAttempts(tx, tenant, callId),
    readTurnsOf(tx, tenant, callId),
    // This row exists if requests were deleted before the call, because their sums are then kept.
    tx`select from call_costs ${ofCallId(tx, tenant, callId)} limit 1`,
  ])
  const attemptsOf = new Map<string, AttemptRow[]>()
  for (const each of attempts) attemptsOf.set(each.requestId, [...(attemptsOf.get(each.requestId) ?? []), each])
  const requests = rows.slice(0, requestsMax).map(({ startedAt, ...request }): CallRequest => {
    const made = attemptsOf.get(request.requestId) ?? []
    const startedAtMs = startedAt.getTime()
    return { ...request, startedAtMs, attempts: made.map(attemptOf), turnIndex: turns.get(request.requestId) ?? null }
  })
  return { requests, isComplete: summed.length === 0 && rows.length <= requestsMax }
}

function readRequests(tx: Tx, { organizationId }: Tenant, callId: string) {
  return tx<Row[]>`
    select request_id as "requestId", stage, operation, provider, model, outcome, started_at as "startedAt",
      duration_ms as "durationMs", first_byte_ms as "firstByteMs", cost_micro_usd as "costMicroUsd",
      exists (select from choices c where c.organization_id = r.organization_id and c.id = r.choice_id) as "hasRoute"
    from requests r where organization_id = ${organizationId} and call_id = ${callId}
    order by started_at, request_id limit ${requestsMax + 1}`
}

function readAttempts(tx: Tx, { organizationId }: Tenant, callId: string) {
  return tx<AttemptRow[]>`
    select a.request_id as "requestId", a.attempt_id as "attemptId", a.provider, a.model, a.outcome,
      a.started_at as "startedAt", a.duration_ms as "durationMs", a.first_byte_ms as "firstByteMs", a.quantities,
      a.cost_micro_usd as "costMicroUsd", a.price_source as "priceSource", a.key_source as "keySource"
    from (
      select organization_id, request_id, started_at from requests
      where organization_id = ${organizationId} and call_id = ${callId}
      order by started_at, request_id limit ${requestsMax}
    ) as r join attempts a on a.organization_id = r.organization_id and a.request_id = r.request_id
    order by a.started_at, a.number`
}

/** Returns the turn for each request that served one turn. Speech to text serves many turns with one request. */
async function readTurnsOf(tx: Tx, tenant: Tenant, callId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await tx<{ requestId: string; index: number }[]>`
    select "requestId", min(index) as index from (
      select (span->'attributes'->>'index')::int as index, part->'attributes'->>'request_id' as "requestId"
      from (select ${readableJson(tx, 'span')} as span from call_spans ${ofCallId(tx, tenant, callId)}) as s,
        json_array_elements(span->'children') as part
      where span->>'kind' = 'turn') as named
    where "requestId" is not null and index is not null
    group by "requestId" having count(distinct index) = 1`
  return new Map(rows.map(({ requestId, index }) => [requestId, index]))
}

function attemptOf({ startedAt, ...attempt }: AttemptRow): LedgerAttempt {
  return { ...attempt, startedAtMs: startedAt.getTime() }
}
