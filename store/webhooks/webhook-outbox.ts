/** Stores events with their deliveries, and notifies the delivering processes. */
import { v7 } from 'uuid'
import type { Tenant } from '../../domain/records/organization.ts'
import type { CancelReason } from '../../domain/records/webhook-delivery.ts'
import { expiryMs, type OutboxEvent } from '../../domain/webhooks/outbox.ts'
import type { DueEndpoint } from '../../domain/webhooks/queue.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import { hasOpenStream, notifyingStreams } from './webhook-streams.ts'

/** The channel's payload is the organization and the ids of its endpoints with a due delivery. */
const channel = 'parley_webhooks'

/**
 * Stores an event with its deliveries, in the transaction of the change to the call. A call report supersedes its
 * call's older reports for each endpoint: a pending delivery is cancelled, and a delivery with an attempt under way
 * gets no further attempt. Without an endpoint, the event is stored only if the tenant has an open stream.
 */
export async function enqueue(
  tx: Tx,
  { organizationId, test }: Tenant,
  event: OutboxEvent,
  endpoints: readonly { id: string; name: string }[],
): Promise<void> {
  if (endpoints.length === 0) return enqueueForStreams(tx, { organizationId, test }, event)
  const endpointIds = endpoints.map(({ id }) => id)
  const { type, callId, version, agentId } = event
  const createdAt = new Date(event.createdAtMs)
  const occurredAt = new Date(event.occurredAtMs)
  if (version !== null) {
    // Locks rows by id, in the same order as the code to store attempts' results. Otherwise two transactions could wait
    // for each other.
    await tx`
      with older as (
        select id from webhook_deliveries
        where organization_id = ${organizationId} and test = ${test} and call_id = ${callId} and type = ${type}
          and endpoint_id = any(${arrayLiteral(endpointIds)}::uuid[]) and version < ${version}
        order by id for no key update
      )
      update webhook_deliveries d set superseded = true,
        status = case d.status when 'pending' then 'cancelled' else d.status end,
        error = case d.status when 'pending' then 'superseded' else d.error end
      from older o where d.organization_id = ${organizationId} and d.test = ${test} and d.id = o.id`
  }
  await tx`
    with event as (${insertEvent(tx, { organizationId, test }, event)}
    ), delivery as (
      insert into webhook_deliveries (organization_id, test, id, event_id, endpoint_id, endpoint_name, type, call_id,
        agent_id, version, status, due_at, occurred_at, created_at, expires_at)
      select ${organizationId}, ${test}, d.id, ${event.id}::uuid, d.endpoint_id, d.endpoint_name, ${type}, ${callId}::uuid, ${agentId},
        ${version}::integer, 'pending', ${createdAt}, ${occurredAt}, ${createdAt}, ${new Date(event.createdAtMs + expiryMs)}
      from unnest(${arrayLiteral(endpoints.map(() => v7()))}::uuid[], ${arrayLiteral(endpointIds)}::uuid[],
        ${arrayLiteral(endpoints.map(({ name }) => name))}::text[]) as d (id, endpoint_id, endpoint_name)
    )
    select pg_notify(${channel}, ${payloadOf(organizationId, endpointIds)}), ${notifyingStreams(tx, { organizationId, test })}`
}

async function enqueueForStreams(tx: Tx, tenant: Tenant, event: OutboxEvent): Promise<void> {
  if (!(await hasOpenStream(tx, tenant))) return
  await tx`
    with event as (${insertEvent(tx, tenant, event)}
    )
    select ${notifyingStreams(tx, tenant)}`
}

/** Sets a separate body for some deliveries, because their endpoints have other extraction fields. */
export async function giveOwnBody(
  tx: Tx,
  { organizationId, test }: Tenant,
  eventId: string,
  endpointIds: readonly string[],
  body: Uint8Array,
): Promise<void> {
  await tx`
    update webhook_deliveries set body = ${Buffer.from(body)}
    where organization_id = ${organizationId} and test = ${test} and event_id = ${eventId}
      and endpoint_id = any(${arrayLiteral(endpointIds)}::uuid[])`
}

/** Notifies the delivering processes when deliveries are due again. */
export async function notifyDue(tx: Tx, { organizationId }: Tenant, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length > 0) await tx`select pg_notify(${channel}, ${payloadOf(organizationId, endpointIds)})`
}

const payloadOf = (organizationId: string, endpointIds: readonly string[]) => [organizationId, ...endpointIds].join()

/**
 * Cancels deliveries to deleted or disabled endpoints. A delivery is skipped if a process is claiming or has claimed
 * it, because that process checks the endpoint before each attempt.
 */
export async function cancelDeliveries(
  tx: Tx,
  { organizationId, test }: Tenant,
  endpointIds: readonly string[],
  reason: Exclude<CancelReason, 'superseded'>,
): Promise<void> {
  if (endpointIds.length === 0) return
  await tx`
    with waiting as (
      select id from webhook_deliveries
      where organization_id = ${organizationId} and test = ${test} and status = 'pending'
        and endpoint_id = any(${arrayLiteral(endpointIds)}::uuid[])
      for update skip locked
    )
    update webhook_deliveries d set status = 'cancelled', error = ${reason}
    from waiting w where d.organization_id = ${organizationId} and d.test = ${test} and d.id = w.id`
}

export const insertEvent = (tx: Tx, { organizationId, test }: Tenant, event: OutboxEvent) => tx`
  insert into webhook_events (organization_id, test, id, type, call_id, agent_id, tags, version, body, occurred_at, created_at)
  values (${organizationId}, ${test}, ${event.id}, ${event.type}, ${event.callId}, ${event.agentId},
    ${JSON.stringify(event.tags)}::text::json, ${event.version}, ${Buffer.from(event.body)}, ${new Date(event.occurredAtMs)},
    ${new Date(event.createdAtMs)})`

/** Calls `due` with the endpoints that have a due delivery. The driver listens again after each lost connection. */
export async function listenForDeliveries(sql: Sql, due: (endpoints: readonly DueEndpoint[]) => void): Promise<void> {
  await sql.listen(channel, (payload) => {
    const [organizationId = '', ...endpointIds] = payload.split(',')
    due(endpointIds.map((endpointId) => ({ endpointId, organizationId })))
  })
}
