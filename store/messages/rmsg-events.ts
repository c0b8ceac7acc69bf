/**
 * Stores rich-message events in the delivery log. The provider does not know our organizations, so statements with the
 * operator's access find an event's organization.
 */
import { v7 } from 'uuid'
import type { RichMessageEvent } from '../../domain/ports/rich-messages.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { conversationIdOf } from '../../domain/records/rmsg-message.ts'
import type { Attempt } from '../../domain/records/webhook-delivery.ts'
import type { ClaimedEvent, RmsgEventStore, RoutedEvent } from '../../domain/rmsg/events.ts'
import type { SubscriptionTarget } from '../../domain/rmsg/subscriptions.ts'
import { expiryMs } from '../../domain/webhooks/outbox.ts'
import type { Tx } from '../postgres/connect.ts'
import { isUuid, storable } from '../postgres/row-values.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { insertReceived, reportMessage } from './rmsg-messages.ts'

/** The lease for a delivery. It covers a subscription's time-out and the storing of its result. */
const leaseMs = 15_000

export function createRmsgEventStore(worlds: Worlds & Pick<Tenancy, 'asOperator'>, clock: Clock): RmsgEventStore {
  return {
    route: (event) => worlds.asOperator((tx) => route(tx, event, clock.nowMs())),
    claim: (event, routed) => worlds.asTenant(routed, (tx) => claim(tx, { event, routed, nowMs: clock.nowMs() })),
    attempted: (event, claimed, target, attempt) =>
      worlds.asTenant(claimed, (tx) => storeAttempt(tx, { event, claimed, target, attempt, nowMs: clock.nowMs() })),
    release: (claimed, isTaken) =>
      worlds.asTenant(claimed, async (tx) => {
        const { organizationId, test, rowId } = claimed
        await tx`
          update webhook_events set working_until = null, is_taken = ${isTaken}
          where organization_id = ${organizationId} and test = ${test} and id = ${rowId}`
      }),
  }
}

async function route(tx: Tx, event: RichMessageEvent, nowMs: number): Promise<RoutedEvent | null> {
  const { id, type, messageId, report } = event
  const message = report && isUuid(messageId) ? await reportMessage(tx, messageId, report, nowMs) : null
  if (type === 'rmsg.sent' && message !== null) {
    const [first] = await tx<{ id: string }[]>`
      update rmsg_messages set sent_event_id = coalesce(sent_event_id, ${id}) where id = ${messageId}
      returning sent_event_id as id`
    if (first?.id !== id) return null
  }
  // If an event was stored before, it stays with the same organization.
  const [stored] = await tx<Routed[]>`
    select v.organization_id as "organizationId", v.test, v.tags, n.id as "phoneNumberId", n.e164 as "phoneNumber",
      n.provider_identity as "providerIdentity"
    from webhook_events v join rmsg_numbers n on n.test = v.test and ${isNamed(tx, event)}
    where v.provider_event_id = ${id}`
  const routed = stored ?? (await routeNew(tx, event))
  if (routed === null) return null
  if (type === 'rmsg.received') await insertReceived(tx, event, routed, nowMs)
  return { ...routed, conversationId: conversationOf(event, routed.phoneNumberId) }
}

type Routed = Omit<RoutedEvent, 'conversationId'>

/** SQL condition: the event names the number `n`. */
const isNamed = (tx: Tx, { providerIdentity }: RichMessageEvent) =>
  tx`${storable(providerIdentity)} in (n.provider_identity, n.e164)`

const conversationOf = ({ conversationId, remoteNumber }: RichMessageEvent, phoneNumberId: string) =>
  conversationId ?? conversationIdOf(phoneNumberId, remoteNumber)

type RouteRow = Omit<Routed, 'organizationId'> & { pool: string | null; sender: string | null; admin: string | null }

/**
 * Finds a new event's organization. If the number is in a pool, the event belongs to the pool's organization. Otherwise
 * it belongs to the organization with the conversation's last message, or else to the admin organization. A live and a
 * test number may have the same name at the provider; then the conversation decides between them.
 */
async function routeNew(tx: Tx, event: RichMessageEvent): Promise<Routed | null> {
  const { messageId, type } = event
  const [named] = await tx<
    { id: string }[]
  >`select id from rmsg_numbers n where ${isNamed(tx, event)} order by test limit 1`
  if (named === undefined) return null
  const conversationId = conversationOf(event, named.id)
  const conversation = isUuid(conversationId) ? conversationId : null
  const message = isUuid(messageId) ? messageId : null
  const [row] = await tx<RouteRow[]>`
    select n.test, n.id as "phoneNumberId", n.e164 as "phoneNumber", n.provider_identity as "providerIdentity",
      n.organization_id as pool,
      m.organization_id as sender, (select id from organizations where admin_organization limit 1) as admin,
      coalesce((select tags from rmsg_messages where id = ${message}::uuid and ${type !== 'rmsg.received'}), '{}') as tags
    from rmsg_numbers n left join lateral (
      select organization_id from rmsg_messages m
      where m.conversation_id = ${conversation}::uuid and m.phone_number_id = n.id and m.direction = 'outbound'
      order by created_at desc limit 1) m on true
    where ${isNamed(tx, event)}
    order by m.organization_id is null, n.test limit 1`
  if (row === undefined) return null
  const { pool, sender, admin, ...routed } = row
  const organizationId = pool ?? sender ?? admin
  return organizationId === null ? null : { ...routed, organizationId }
}

type Claim = { event: RichMessageEvent; routed: RoutedEvent; nowMs: number }

async function claim(tx: Tx, { event, routed, nowMs }: Claim): Promise<ClaimedEvent | 'in_work' | 'taken'> {
  const { organizationId, test, tags } = routed
  const now = new Date(nowMs)
  await tx`
    insert into webhook_events (organization_id, test, id, type, tags, body, occurred_at, created_at, provider_event_id)
    values (${organizationId}, ${test}, ${v7()}, ${event.type}, ${storable(JSON.stringify(tags))}::text::json,
      ${Buffer.from(event.bytesFor(routed))}, ${new Date(event.occurredAtMs)}, ${now}, ${event.id})
    on conflict (provider_event_id) where provider_event_id is not null do nothing`
  const [row] = await tx<{ id: string; body: Buffer; isTaken: boolean; inWork: boolean }[]>`
    select id, body, is_taken as "isTaken", coalesce(working_until > now(), false) as "inWork" from webhook_events
    where organization_id = ${organizationId} and test = ${test} and provider_event_id = ${event.id} for update`
  if (row === undefined || row.inWork) return 'in_work'
  if (row.isTaken) return 'taken'
  await tx`
    update webhook_events set working_until = now() + ${leaseMs} * interval '1 millisecond'
    where organization_id = ${organizationId} and test = ${test} and id = ${row.id}`
  const succeeded = await tx<{ id: string }[]>`
    select endpoint_id as id from webhook_deliveries
    where organization_id = ${organizationId} and test = ${test} and event_id = ${row.id} and status = 'succeeded'`
  return { organizationId, test, rowId: row.id, body: row.body, acceptedBy: new Set(succeeded.map(({ id }) => id)) }
}

type Ended = {
  event: RichMessageEvent
  claimed: ClaimedEvent
  target: SubscriptionTarget
  attempt: Attempt
  nowMs: number
}

/**
 * Stores an attempt and its delivery. No repeat is scheduled here, because the provider repeats the event on its
 * schedule.
 */
async function storeAttempt(tx: Tx, { event, claimed, target, attempt, nowMs }: Ended): Promise<void> {
  const { organizationId, test, rowId } = claimed
  const { error, responseStatus, responseBody } = attempt
  const now = new Date(nowMs)
  const status = error === null ? 'succeeded' : 'failed'
  await tx`
    with delivery as (
      insert into webhook_deliveries (organization_id, test, id, event_id, endpoint_id, endpoint_name, type, status, attempts,
        due_at, http_status, error, occurred_at, created_at, expires_at, delivered_at)
      values (${organizationId}, ${test}, ${v7()}, ${rowId}, ${target.id}, ${target.url}, ${event.type}, ${status}, 1,
        ${now}, ${responseStatus}, ${error}, ${new Date(event.occurredAtMs)}, ${now}, ${new Date(nowMs + expiryMs)},
        ${error === null ? now : null})
      on conflict (organization_id, test, event_id, endpoint_id) where call_id is null do update set
        status = excluded.status, attempts = webhook_deliveries.attempts + 1, error = excluded.error,
        http_status = coalesce(excluded.http_status, webhook_deliveries.http_status), delivered_at = excluded.delivered_at
      returning id, attempts
    )
    insert into webhook_attempts (organization_id, test, delivery_id, number, id, trigger, request_url, request_headers,
      response_status, response_body, response_truncated, duration_ms, error, created_at)
    select ${organizationId}, ${test}, id, attempts, ${attempt.id}::uuid, ${attempt.trigger}, ${attempt.requestUrl},
      ${JSON.stringify(attempt.requestHeaders)}::text::json, ${responseStatus}::integer,
      ${responseBody && Buffer.from(responseBody)}::bytea, ${attempt.isResponseTruncated}, ${attempt.durationMs}::float8,
      ${error}::text, ${new Date(attempt.createdAtMs)}::timestamptz
    from delivery`
}
