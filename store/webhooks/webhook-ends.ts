/** Stores the results of finished attempts: in the deliveries, in the attempt log, and in the endpoints' state. */
import type { Attempt } from '../../domain/records/webhook-delivery.ts'
import { type DeliveryEnd, type DisabledEndpoint, failingMs } from '../../domain/webhooks/queue.ts'
import type { Tx } from '../postgres/connect.ts'

export async function completeDeliveries(
  tx: Tx,
  ends: readonly DeliveryEnd[],
  nowMs: number,
): Promise<DisabledEndpoint[]> {
  await storeEnds(tx, ends, new Date(nowMs))
  return markEndpoints(tx, ends, nowMs)
}

/**
 * Stores the attempts' results. All results go in one JSON text, because a statement costs about the same for one row
 * as for fifty. If an endpoint was deleted, disabled or got a newer call report meanwhile, the delivery's next attempt
 * is cancelled here.
 */
async function storeEnds(tx: Tx, ends: readonly DeliveryEnd[], now: Date): Promise<void> {
  await tx`
    with ended as materialized (
      select * from json_to_recordset(${JSON.stringify(ends.map(rowOf))}::text::json) as e (
        organization_id text, test boolean, id uuid, claim integer, status text, error text, failures integer,
        due_at double precision, attempt_id uuid, trigger text, request_url text, request_headers json,
        response_status integer, response_body text, response_truncated boolean, duration_ms double precision,
        attempt_error text, attempt_at double precision)
    ), taken as materialized (
      select d.organization_id, d.test, d.id, coalesce(e.status, d.redelivered_from, 'pending') as status,
        case
          when coalesce(e.status, d.redelivered_from, 'pending') <> 'pending' then null
          when d.superseded then 'superseded'
          when p.id is null then 'deleted'
          when p.disabled_at is not null then 'disabled'
        end as cancelled
      from ended e
        join webhook_deliveries d on d.organization_id = e.organization_id and d.test = e.test and d.id = e.id
        left join webhook_endpoints p
          on p.organization_id = d.organization_id and p.test = d.test and p.id = d.endpoint_id
      where d.status = 'delivering' and d.claim = e.claim
      order by d.id for no key update of d
    ), changed as (
      update webhook_deliveries d set
        status = case when t.cancelled is null then t.status else 'cancelled' end,
        error = case when t.cancelled is not null then t.cancelled when e.status is null then d.error else e.error end,
        http_status = case when e.status is null then d.http_status else coalesce(e.response_status, d.http_status) end,
        attempts = d.attempts + case when e.attempt_id is null then 0 else 1 end,
        failures = e.failures,
        due_at = coalesce(to_timestamp(e.due_at / 1000), d.due_at),
        delivered_at = case when e.status = 'succeeded' then coalesce(d.delivered_at, ${now}) else d.delivered_at end,
        claimed_until = null, owner_id = null, redelivered_from = null
      from ended e join taken t on t.organization_id = e.organization_id and t.test = e.test and t.id = e.id
      where (d.organization_id, d.test, d.id) = (e.organization_id, e.test, e.id)
      returning d.organization_id, d.test, d.id, d.attempts
    )
    insert into webhook_attempts (organization_id, test, delivery_id, number, id, trigger, request_url, request_headers,
      response_status, response_body, response_truncated, duration_ms, error, created_at)
    select c.organization_id, c.test, c.id, c.attempts, e.attempt_id, e.trigger, e.request_url, e.request_headers,
      e.response_status, decode(e.response_body, 'base64'), e.response_truncated, e.duration_ms, e.attempt_error,
      to_timestamp(e.attempt_at / 1000)
    from ended e join changed c on c.organization_id = e.organization_id and c.test = e.test and c.id = e.id
    where e.attempt_id is not null`
}

function rowOf({ delivery, attempt, status, error, dueAtMs, failures }: DeliveryEnd): object {
  const { organizationId, test, id, claim, trigger } = delivery
  return {
    organization_id: organizationId,
    test,
    id,
    claim,
    status: status === 'unchanged' ? null : status,
    error,
    failures,
    due_at: dueAtMs,
    trigger,
    ...(attempt && attemptColumns(attempt)),
  }
}

function attemptColumns(attempt: Attempt): object {
  const { responseBody } = attempt
  return {
    attempt_id: attempt.id,
    request_url: attempt.requestUrl,
    request_headers: attempt.requestHeaders,
    response_status: attempt.responseStatus,
    response_body: responseBody && Buffer.from(responseBody).toString('base64'),
    response_truncated: attempt.isResponseTruncated,
    duration_ms: attempt.durationMs,
    attempt_error: attempt.error,
    attempt_at: attempt.createdAtMs,
  }
}

type Mark = { organization_id: string; test: boolean; id: string; sign: 'worked' | 'failed' | 'gone' }

/**
 * Records endpoints' successes and failures. An endpoint's row is written only at its first failure, at its first
 * success after a failure, or when it is disabled. If every attempt wrote the row, all processes would wait for one
 * another there.
 */
async function markEndpoints(tx: Tx, ends: readonly DeliveryEnd[], nowMs: number): Promise<DisabledEndpoint[]> {
  const marks = marksOf(ends)
  if (marks.length === 0) return []
  const now = new Date(nowMs)
  const disabled = await tx<DisabledEndpoint[]>`
    with mark as materialized (
      select p.organization_id, p.test, p.id, m.sign,
        case when m.sign = 'gone' then 'gone'
          when m.sign = 'failed' and p.failing_since <= ${new Date(nowMs - failingMs)} then 'failing' end as reason
      from json_to_recordset(${JSON.stringify(marks)}::text::json) as m (organization_id text, test boolean, id uuid, sign text)
        join webhook_endpoints p on p.organization_id = m.organization_id and p.test = m.test and p.id = m.id
      where p.disabled_at is null and case m.sign
        when 'worked' then p.failing_since is not null
        when 'gone' then true
        else p.failing_since is null or p.failing_since <= ${new Date(nowMs - failingMs)} end
      order by p.id for no key update of p
    ), marked as (
      update webhook_endpoints p set
        failing_since = case when m.sign = 'worked' then null else coalesce(p.failing_since, ${now}) end,
        disabled_at = case when m.reason is null then null else ${now}::timestamptz end, disabled_reason = m.reason,
        updated_at = case when m.reason is null then p.updated_at else ${now} end
      from mark m where (p.organization_id, p.test, p.id) = (m.organization_id, m.test, m.id)
      returning p.organization_id, p.test, p.id, p.disabled_reason
    ), waiting as (
      -- One that another process holds is cancelled there. To wait for it here could be to wait in a circle.
      select d.organization_id, d.test, d.id
      from marked m join webhook_deliveries d on d.organization_id = m.organization_id and d.test = m.test
        and d.endpoint_id = m.id and d.status = 'pending'
      where m.disabled_reason is not null
      for no key update of d skip locked
    ), cancelled as (
      update webhook_deliveries d set status = 'cancelled', error = 'disabled'
      from waiting w where (d.organization_id, d.test, d.id) = (w.organization_id, w.test, w.id)
    )
    select id as "endpointId", disabled_reason as reason from marked where disabled_reason is not null`
  return [...disabled]
}

/**
 * Sums up the attempts in one mark for each endpoint: `gone` if any answer was 410, else `worked` if any attempt
 * succeeded, else `failed`.
 */
function marksOf(ends: readonly DeliveryEnd[]): Mark[] {
  const marks = new Map<string, Mark>()
  for (const { delivery, endpoint } of ends) {
    if (endpoint === null) continue
    const existing = marks.get(delivery.endpointId)
    if (existing && (existing.sign === 'gone' || (existing.sign === 'worked' && endpoint === 'failed'))) continue
    const { organizationId, test, endpointId } = delivery
    marks.set(endpointId, { organization_id: organizationId, test, id: endpointId, sign: endpoint })
  }
  return [...marks.values()]
}
