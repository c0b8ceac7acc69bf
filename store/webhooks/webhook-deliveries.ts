/** The delivery log. A statement for an organization reads or writes only its live or test rows. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Delivery, NumberedAttempt } from '../../domain/records/webhook-delivery.ts'
import {
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryPosition,
  type DeliveryStore,
  type DeliverySummary,
  type EndpointOption,
  type SentEvent,
} from '../../domain/webhooks/delivery-store.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, isUuid, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { completeDeliveries } from './webhook-ends.ts'
import { insertEvent } from './webhook-outbox.ts'
import { type ClaimedRow, claimedColumns, claimedOf, isNextOfCall, leaseOf } from './webhook-queue.ts'
import { recover } from './webhook-recovery.ts'

export type DeliveryStoreDeps = {
  worlds: Worlds & Pick<Tenancy, 'asOperator'>
  clock: Clock
  instanceId: string
  /** How long deliveries are kept. Null: for ever. */
  retentionDays: number | null
}

/** The maximum number of attempts in a list. Older attempts are only counted. */
const attemptsMax = 100
const endpointsMax = 1_000
const dayMs = 86_400_000
/**
 * The limits for events in one statement, and for statements in one purge. Together they delete more events than arrive
 * between two purges.
 */
const purgedMax = 1_000
const purgesMax = 50

export function createDeliveryStore({ worlds, clock, instanceId, retentionDays }: DeliveryStoreDeps): DeliveryStore {
  const oldest = () => new Date(retentionDays === null ? 0 : clock.nowMs() - retentionDays * dayMs)
  return {
    list: (tenant, filter, limit, after) =>
      worlds.asTenant(tenant, (tx) => list(tx, tenant, filter, { limit, after, oldest: oldest() })),
    find: async (tenant, id) => {
      if (!isUuid(id)) return null
      return worlds.asTenant(tenant, async (tx) => {
        const [row] = await tx<(Row & { body: Buffer })[]>`
          select ${columns(tx)}, coalesce(d.body, v.body) as body from ${joined(tx)} ${ofId(tx, tenant, id)} and d.created_at >= ${oldest()}`
        if (!row) return null
        const { body, ...delivery } = row
        return { delivery: deliveryOf(delivery), body, attempts: await attemptsOf(tx, tenant, id) }
      })
    },
    claimForRedelivery: async (tenant, id) => {
      if (!isUuid(id)) return 'unknown'
      return worlds.asTenant(tenant, async (tx) => {
        const nowMs = clock.nowMs()
        const [claimed] = await tx<ClaimedRow[]>`
          update webhook_deliveries d set status = 'delivering', redelivered_from = d.status, claim = d.claim + 1,
            owner_id = ${instanceId}, claimed_until = now() + ${leaseOf(tx)} * interval '1 millisecond'
          from webhook_events v, webhook_endpoints e
          ${ofId(tx, tenant, id)} and d.created_at >= ${oldest()}
            and v.organization_id = d.organization_id and v.test = d.test and v.id = d.event_id
            and e.organization_id = d.organization_id and e.test = d.test and e.id = d.endpoint_id
            and ${canRedeliver(tx)}
          returning ${claimedColumns(tx)}`
        if (claimed) return claimedOf(claimed, nowMs)
        const [existing] =
          await tx`select from webhook_deliveries d ${ofId(tx, tenant, id)} and d.created_at >= ${oldest()}`
        return existing ? 'refused' : 'unknown'
      })
    },
    recover: async (tenant, range, batch) => {
      if (!isUuid(range.endpointId)) return 'unknown'
      const fromMs = Math.max(range.fromMs, oldest().getTime())
      return worlds.asTenant(tenant, (tx) => recover(tx, tenant, { ...range, fromMs }, batch))
    },
    summaries: (tenant, ids) => worlds.asTenant(tenant, (tx) => summaries(tx, tenant, ids, clock.nowMs())),
    record: (tenant, sent) =>
      worlds.asTenant(tenant, (tx) => record(tx, tenant, sent, { instanceId, nowMs: clock.nowMs() })),
    async purge() {
      if (retentionDays === null) return
      for (let batches = 0; batches < purgesMax; batches++) {
        const { count } = await worlds.asOperator((tx) => purge(tx, oldest()))
        if (count < purgedMax) return
      }
    },
  }
}

/**
 * Deletes events with their deliveries and attempts. An event with an unfinished delivery stays, for example a call
 * report that is delivered again long after its call.
 */
const purge = (tx: Tx, oldest: Date) => tx`
  delete from webhook_events where (organization_id, test, id) in (
    select organization_id, test, id from webhook_events v where created_at < ${oldest} and not exists (
      select from webhook_deliveries d where d.organization_id = v.organization_id and d.test = v.test
        and d.event_id = v.id and d.status in ('pending', 'delivering'))
    order by created_at limit ${purgedMax} for update skip locked)`

const ofId = (tx: Tx, { organizationId, test }: Tenant, id: string) =>
  tx`where d.organization_id = ${organizationId} and d.test = ${test} and d.id = ${id}`

const joined = (tx: Tx) => tx`
  webhook_deliveries d
    join webhook_events v on v.organization_id = d.organization_id and v.test = d.test and v.id = d.event_id
    left join webhook_endpoints e on e.organization_id = d.organization_id and e.test = d.test and e.id = d.endpoint_id
    left join rmsg_subscriptions s on d.call_id is null and s.organization_id = d.organization_id and s.test = d.test
      and s.id = d.endpoint_id`

/**
 * SQL: the delivery `d` may be sent again. A pre-call event may not, because the endpoint's response changes nothing
 * after the call has begun. An older call report may not, because it must not follow a newer report.
 */
const canRedeliver = (tx: Tx) => tx`
  d.status <> 'delivering' and d.type <> 'call.pre_call' and not d.superseded and e.id is not null and e.disabled_at is null
    and ${isNextOfCall(tx)}`

/** SQL: the kind of the delivery `d`. Only rich-message events have no call. */
const kindOf = (tx: Tx) => tx`case when d.call_id is null then 'rmsg' else 'workspace' end`

const columns = (tx: Tx) => tx`
  d.organization_id as "organizationId", d.test, d.id, coalesce(v.provider_event_id, v.id::text) as "eventId", d.endpoint_id as "endpointId",
  coalesce(e.name, s.url, d.endpoint_name) as "endpointName", ${kindOf(tx)} as "endpointKind",
  coalesce(e.id, s.id) is null as "isEndpointDeleted", d.type, d.call_id as "callId",
  exists (select from calls c where c.organization_id = d.organization_id and c.test = d.test and c.id = d.call_id) as "isCallStored",
  d.agent_id as "agentId", v.tags, d.status, d.attempts, d.http_status as "httpStatus", d.error,
  (${canRedeliver(tx)}) as "canRedeliver", d.occurred_at as "occurredAt", d.created_at as "createdAt",
  d.expires_at as "expiresAt", d.delivered_at as "deliveredAt"`

type Row = Omit<Delivery, 'occurredAtMs' | 'createdAtMs' | 'expiresAtMs' | 'deliveredAtMs'> & {
  occurredAt: Date
  createdAt: Date
  expiresAt: Date
  deliveredAt: Date | null
}

function deliveryOf({ occurredAt, createdAt, expiresAt, deliveredAt, ...row }: Row): Delivery {
  return {
    ...row,
    occurredAtMs: occurredAt.getTime(),
    createdAtMs: createdAt.getTime(),
    expiresAtMs: expiresAt.getTime(),
    deliveredAtMs: deliveredAt?.getTime() ?? null,
  }
}

async function list(
  tx: Tx,
  tenant: Tenant,
  filter: DeliveryFilter,
  { limit, after, oldest }: { limit: number; after: DeliveryPosition | null; oldest: Date },
): Promise<DeliveryPage> {
  const { endpointId, type, agentId, status, callId, eventId, fromMs, toMs } = filter
  const from = new Date(Math.max(fromMs ?? 0, oldest.getTime()))
  const rows = await tx<Row[]>`
    select ${columns(tx)} from ${joined(tx)}
    where d.organization_id = ${tenant.organizationId} and d.test = ${tenant.test} and d.created_at >= ${from}
      ${endpointId === undefined ? tx`` : tx`and d.endpoint_id = ${endpointId}`}
      ${type === undefined ? tx`` : tx`and d.type = ${type}`}
      ${agentId === undefined ? tx`` : tx`and d.agent_id = ${agentId}`}
      ${status === undefined ? tx`` : tx`and d.status = ${status}`}
      ${callId === undefined ? tx`` : tx`and d.call_id = ${callId}`}
      ${eventId === undefined ? tx`` : ofEvent(tx, eventId)}
      ${toMs === undefined ? tx`` : tx`and d.created_at <= ${new Date(toMs)}`}
      ${after === null ? tx`` : tx`and (d.created_at, d.id) < (${new Date(after.createdAtMs)}, ${after.id})`}
    order by d.created_at desc, d.id desc limit ${limit + 1}`
  const deliveries = rows.slice(0, limit).map(deliveryOf)
  const last = deliveries.at(-1)
  const next = rows.length > limit && last ? { createdAtMs: last.createdAtMs, id: last.id } : null
  return { deliveries, next, endpoints: await endpointsOf(tx, tenant) }
}

const ofEvent = (tx: Tx, eventId: string) =>
  isUuid(eventId) ? tx`and d.event_id = ${eventId}` : tx`and v.provider_event_id = ${storable(eventId)}`

/**
 * Lists the endpoints with deliveries, and adds endpoints without deliveries. The search jumps from endpoint to
 * endpoint in the deliveries' index.
 */
async function endpointsOf(tx: Tx, { organizationId, test }: Tenant): Promise<EndpointOption[]> {
  const own = tx`organization_id = ${organizationId} and test = ${test}`
  const rows = await tx<EndpointOption[]>`
    with recursive seen as (
      (select endpoint_id as id from webhook_deliveries where ${own} order by endpoint_id limit 1)
      union all
      select (select endpoint_id from webhook_deliveries where ${own} and endpoint_id > s.id order by endpoint_id limit 1)
      from seen s where s.id is not null
    )
    select coalesce(e.id, s.id) as id, e.id is null as "isDeleted", coalesce(e.name, l.name) as name,
      coalesce(e.kind, l.kind) as kind
    from seen s full join (
        select id, name, 'workspace' as kind from webhook_endpoints where ${own}
        union all select id, url, 'rmsg' from rmsg_subscriptions where ${own}) e on e.id = s.id
      left join lateral (
        select endpoint_name as name, ${kindOf(tx)} as kind from webhook_deliveries d
        where ${own} and endpoint_id = s.id order by created_at desc, id desc limit 1) l on true
    where coalesce(e.id, s.id) is not null
    order by e.id is null, name, id limit ${endpointsMax}`
  return [...rows]
}

type AttemptRow = Omit<NumberedAttempt, 'createdAtMs'> & { createdAt: Date }

async function attemptsOf(tx: Tx, { organizationId, test }: Tenant, deliveryId: string): Promise<NumberedAttempt[]> {
  const rows = await tx<AttemptRow[]>`
    select id, number, trigger, request_url as "requestUrl", request_headers as "requestHeaders",
      response_status as "responseStatus", response_body as "responseBody", response_truncated as "isResponseTruncated",
      duration_ms as "durationMs", error, created_at as "createdAt"
    from webhook_attempts where organization_id = ${organizationId} and test = ${test} and delivery_id = ${deliveryId}
    order by number desc limit ${attemptsMax}`
  return rows.map(({ createdAt, ...row }) => ({ ...row, createdAtMs: createdAt.getTime() })).reverse()
}

/** Counts at most this many of an endpoint's deliveries. */
const countedMax = 10_000

type SummaryRow = Omit<DeliverySummary, 'createdAtMs'> & { endpointId: string; createdAt: Date }

async function summaries(
  tx: Tx,
  { organizationId, test }: Tenant,
  ids: readonly string[],
  nowMs: number,
): Promise<Map<string, DeliverySummary>> {
  if (ids.length === 0) return new Map()
  const ofEndpoint = tx`
    from webhook_deliveries d
    where d.organization_id = ${organizationId} and d.test = ${test} and d.endpoint_id = e.id`
  const rows = await tx<SummaryRow[]>`
    select e.id as "endpointId", l.status, l.http_status as "httpStatus", l.created_at as "createdAt", c.succeeded,
      c.failed, c.pending
    from unnest(${arrayLiteral(ids)}::uuid[]) as e (id)
      cross join lateral (select d.status, d.http_status, d.created_at ${ofEndpoint} order by d.created_at desc, d.id desc limit 1) l
      cross join lateral (
        select count(*) filter (where status = 'succeeded')::int as succeeded,
          count(*) filter (where status in ('failed', 'expired'))::int as failed,
          count(*) filter (where status in ('pending', 'delivering'))::int as pending
        from (
          select d.status ${ofEndpoint} and d.created_at >= ${new Date(nowMs - dayMs)}
          order by d.created_at desc, d.id desc limit ${countedMax}
        ) newest
      ) c`
  return new Map(
    rows.map(({ endpointId, createdAt, ...row }) => [endpointId, { ...row, createdAtMs: createdAt.getTime() }]),
  )
}

/** Stores an event and its finished delivery. No delivery is due, so no process is notified. */
async function record(
  tx: Tx,
  tenant: Tenant,
  { event, endpointName, end }: SentEvent,
  { instanceId, nowMs }: { instanceId: string; nowMs: number },
): Promise<void> {
  await insertEvent(tx, tenant, event)
  const { organizationId, test } = tenant
  const { id, endpointId, claim } = end.delivery
  const created = new Date(event.createdAtMs)
  await tx`
    insert into webhook_deliveries (organization_id, test, id, event_id, endpoint_id, endpoint_name, type, call_id, agent_id,
      version, status, claim, due_at, claimed_until, owner_id, occurred_at, created_at, expires_at)
    values (${organizationId}, ${test}, ${id}, ${event.id}, ${endpointId}, ${endpointName}, ${event.type}, ${event.callId},
      ${event.agentId}, ${event.version}, 'delivering', ${claim}, ${created}, ${created}, ${instanceId},
      ${new Date(event.occurredAtMs)}, ${created}, ${new Date(end.delivery.expiresAtMs)})`
  await completeDeliveries(tx, [end], nowMs)
}
