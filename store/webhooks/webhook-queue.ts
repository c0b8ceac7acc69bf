/**
 * The queue of open deliveries, shared by all processes. A process claims a delivery until `claimed_until`. If another
 * process is claiming a row, the row is skipped. Statements run over all organizations.
 */
import type { Clock } from '../../domain/ports/system.ts'
import type { ClaimedDelivery } from '../../domain/records/webhook-delivery.ts'
import type { Backlog, DeliveryQueue, DueEndpoint, EndpointClaim } from '../../domain/webhooks/queue.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { completeDeliveries } from './webhook-ends.ts'
import { listenForDeliveries } from './webhook-outbox.ts'

export type DeliveryQueueDeps = {
  /** The connections for LISTEN. */
  system: Sql
  worlds: Worlds & Pick<Tenancy, 'asOperator'>
  clock: Clock
  instanceId: string
}

/** One sweep changes at most this many rows; the next sweep continues. */
const sweptMax = 1_000
/** One sweep visits at most this many endpoints; the next sweep continues after them. */
const endpointsMax = 5_000
/** An id that sorts before every stored id. */
const firstId = '00000000-0000-0000-0000-000000000000'
/** A claim lasts this much longer than its attempt's time-out, so that the result can be stored. */
const leaseSpareMs = 5_000
/** The time-out if an endpoint names no time-out. */
const timeoutMsDefault = 10_000

export function createDeliveryQueue({ system, worlds, clock, instanceId }: DeliveryQueueDeps): DeliveryQueue {
  /** The last endpoint in the last sweep. It is `firstId` if that sweep has reached the end. */
  let after = firstId
  return {
    due: () =>
      worlds.asOperator(async (tx) => {
        const now = new Date(clock.nowMs())
        await goByIndex(tx)
        await giveBack(tx)
        await expire(tx, now)
        const swept = await dueEndpoints(tx, now, after)
        after = swept.last
        return swept.endpoints
      }),
    claim: (endpoints, bytesMax) =>
      worlds.asOperator((tx) => claim(tx, endpoints, bytesMax, { owner: instanceId, nowMs: clock.nowMs() })),
    complete: (ends) => worlds.asOperator((tx) => completeDeliveries(tx, ends, clock.nowMs())),
    backlog: () => worlds.asOperator((tx) => backlog(tx, clock.nowMs())),
    listen: (due) => listenForDeliveries(system, due),
  }
}

/**
 * Makes Postgres use the index. After a burst of deliveries the table's statistics are old for a minute. Postgres would
 * then sort all deliveries for each endpoint: 5 s for 400 endpoints out of 12,000.
 */
async function goByIndex(tx: Tx): Promise<void> {
  await tx`select set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true)`
}

/**
 * Releases a claim if its process did not finish the attempt in time. A redelivery on request is not repeated: the
 * delivery gets its earlier status back. This uses the database's clock, because the claiming process and this process
 * may have different clocks.
 */
async function giveBack(tx: Tx): Promise<void> {
  await tx`
    with left_behind as (
      select organization_id, test, id, superseded and coalesce(redelivered_from, 'pending') = 'pending' as is_over
      from webhook_deliveries where status = 'delivering' and claimed_until <= now()
      order by claimed_until limit ${sweptMax} for update skip locked
    )
    update webhook_deliveries d set claimed_until = null, owner_id = null, redelivered_from = null,
      status = case when l.is_over then 'cancelled' else coalesce(d.redelivered_from, 'pending') end,
      error = case when l.is_over then 'superseded' else d.error end
    from left_behind l where (d.organization_id, d.test, d.id) = (l.organization_id, l.test, l.id)`
}

async function expire(tx: Tx, now: Date): Promise<void> {
  await tx`
    with expired as (
      select organization_id, test, id from webhook_deliveries where status = 'pending' and expires_at <= ${now}
      order by expires_at limit ${sweptMax} for update skip locked
    )
    update webhook_deliveries d set status = 'expired'
    from expired e where (d.organization_id, d.test, d.id) = (e.organization_id, e.test, e.id)`
}

/**
 * Finds endpoints with a due delivery. The search jumps from endpoint to endpoint in the index, so an endpoint with
 * many deliveries costs no more than an endpoint with one delivery. The next call continues after `last`. At the end,
 * `last` is `firstId`.
 */
async function dueEndpoints(tx: Tx, now: Date, after: string): Promise<{ endpoints: DueEndpoint[]; last: string }> {
  const rows = await tx<{ id: string; organizationId: string | null; place: number }[]>`
    with recursive endpoint as (
      (select endpoint_id as id, 1 as place from webhook_deliveries
        where status = 'pending' and endpoint_id > ${after} order by endpoint_id limit 1)
      union all
      select (select endpoint_id from webhook_deliveries where status = 'pending' and endpoint_id > e.id
        order by endpoint_id limit 1), e.place + 1
      from endpoint e where e.id is not null and e.place < ${endpointsMax}
    )
    select e.id, e.place, d.organization_id as "organizationId" from endpoint e left join lateral (
      select organization_id from webhook_deliveries
      where status = 'pending' and endpoint_id = e.id and due_at <= ${now} limit 1) d on true
    where e.id is not null and (d.organization_id is not null or e.place = ${endpointsMax})
    order by e.id`
  const endpoints = rows.flatMap(({ id: endpointId, organizationId }) =>
    organizationId === null ? [] : [{ endpointId, organizationId }],
  )
  const last = rows.at(-1)
  return { endpoints, last: last?.place === endpointsMax ? last.id : firstId }
}

async function backlog(tx: Tx, nowMs: number): Promise<Backlog> {
  const [row] = await tx<{ open: number; oldest: Date | null }[]>`
    select (count(*) + (select count(*) from webhook_deliveries where status = 'delivering'))::int as open, min(due_at) as oldest
    from webhook_deliveries where status = 'pending'`
  return { open: row?.open ?? 0, oldestDueMs: Math.max(0, nowMs - (row?.oldest?.getTime() ?? nowMs)) }
}

export type ClaimedRow = Omit<ClaimedDelivery, 'createdAtMs' | 'expiresAtMs' | 'claimedUntilMs'> & {
  createdAt: Date
  expiresAt: Date
  leaseMs: number
}

/**
 * Claims deliveries up to a total size. The endpoints share this size fairly: each endpoint's first delivery comes
 * before any second delivery. `due_at` is set by one process's clock and compared with another's, so it may be wrong by
 * the difference between the two.
 */
async function claim(
  tx: Tx,
  endpoints: readonly EndpointClaim[],
  bytesMax: number,
  { owner, nowMs }: { owner: string; nowMs: number },
): Promise<ClaimedDelivery[]> {
  const now = new Date(nowMs)
  const rows = await tx<ClaimedRow[]>`
    with wanted as (
      select * from unnest(${arrayLiteral(endpoints.map(({ endpointId }) => endpointId))}::uuid[],
        ${arrayLiteral(endpoints.map(({ max }) => String(max)))}::integer[]) as w (endpoint_id, max)
    ), picked as materialized (
      select p.* from wanted w cross join lateral (
        select organization_id, test, id, event_id, endpoint_id, due_at, body from webhook_deliveries d
        where d.status = 'pending' and d.endpoint_id = w.endpoint_id and d.due_at <= ${now} and d.expires_at > ${now}
          and ${isNextOfCall(tx)}
        order by d.due_at limit w.max for update skip locked) p
    ), ranked as (
      select p.*, octet_length(coalesce(p.body, v.body)) as bytes,
        row_number() over (partition by p.endpoint_id order by p.due_at, p.id) as place
      from picked p join webhook_events v on v.organization_id = p.organization_id and v.test = p.test and v.id = p.event_id
    ), fitting as (
      select r.*, sum(r.bytes) over (order by r.place, r.due_at, r.id) - r.bytes as bytes_before from ranked r
    )
    update webhook_deliveries d set status = 'delivering', claim = d.claim + 1, owner_id = ${owner},
      claimed_until = now() + ${leaseOf(tx)} * interval '1 millisecond'
    from fitting p
      join webhook_events v on v.organization_id = p.organization_id and v.test = p.test and v.id = p.event_id
      left join webhook_endpoints e
        on e.organization_id = p.organization_id and e.test = p.test and e.id = p.endpoint_id
    where (d.organization_id, d.test, d.id) = (p.organization_id, p.test, p.id) and p.bytes_before < ${bytesMax}
    returning ${claimedColumns(tx)}`
  return rows.map((row) => claimedOf(row, nowMs))
}

/** SQL: the delivery `d` may be sent now. A call report waits while an older report for its call is being delivered. */
export const isNextOfCall = (tx: Tx) => tx`
  (d.version is null or not exists (
    select from webhook_deliveries o
    where o.organization_id = d.organization_id and o.test = d.test and o.call_id = d.call_id
      and o.endpoint_id = d.endpoint_id and o.status = 'delivering' and o.type = d.type and o.version < d.version))`

/** SQL: the columns of a claimed delivery `d`, with its event `v` and its endpoint `e`. */
export const claimedColumns = (tx: Tx) => tx`
  d.organization_id as "organizationId", d.test, d.id, d.event_id as "eventId", d.endpoint_id as "endpointId", d.type,
  d.call_id as "callId", d.created_at as "createdAt",
  coalesce(d.body, v.body) as body, d.claim, d.failures, d.expires_at as "expiresAt", ${leaseOf(tx)} as "leaseMs",
  case when d.redelivered_from is null then 'automatic' else 'manual' end as trigger`

/** SQL: a claim's length in milliseconds. The endpoint is `e`. */
export const leaseOf = (tx: Tx) => tx`(coalesce(e.timeout_ms, ${timeoutMsDefault}::integer) + ${leaseSpareMs}::integer)`

/**
 * Makes a claimed delivery from its row. The process measures the claim's end by its clock, starting before the claim.
 */
export function claimedOf({ createdAt, expiresAt, leaseMs, ...row }: ClaimedRow, nowMs: number): ClaimedDelivery {
  const times = { createdAtMs: createdAt.getTime(), expiresAtMs: expiresAt.getTime() }
  return { ...row, ...times, claimedUntilMs: nowMs + leaseMs }
}
