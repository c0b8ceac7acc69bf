/** Reads webhook events for open streams, and records the tenants that have a stream. */
import type { Tenant } from '../../domain/records/organization.ts'
import type { EventPosition, StoredWebhookEvent, WebhookStreamStore } from '../../domain/webhooks/event-stream.ts'
import { Watchers } from '../caches/watchers.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { nameOf, type Worlds } from '../postgres/tenant.ts'

/** The channel's payload names the tenant. If a tenant has no stream, nothing is sent. */
const channel = 'parley_webhook_streams'

const ofTenant = (tx: Tx, { organizationId, test }: Tenant) =>
  tx`webhook_streams where organization_id = ${organizationId} and test = ${test} and open_until > now()`

/** Returns true if the tenant has an open stream. Then its events are stored even if no endpoint receives them. */
export async function hasOpenStream(tx: Tx, tenant: Tenant): Promise<boolean> {
  const { count } = await tx`select from ${ofTenant(tx, tenant)}`
  return count > 0
}

/** SQL expression: notifies the tenant's streams when the transaction commits. */
export const notifyingStreams = (tx: Tx, tenant: Tenant) =>
  tx`(select pg_notify(${channel}, ${nameOf(tenant)}) from ${ofTenant(tx, tenant)})`

export type ListeningStreamStore = WebhookStreamStore & {
  /** Resolves as soon as notifications arrive. */
  listen(): Promise<void>
}

export function createWebhookStreamStore(system: Sql, worlds: Worlds): ListeningStreamStore {
  const watchers = new Watchers()
  return {
    keepOpen: (tenant, openMs) => worlds.asTenant(tenant, (tx) => keepOpen(tx, tenant, openMs)),
    positions: (tenant, fromMs, after, limit) =>
      worlds.asTenant(tenant, (tx) => positions(tx, tenant, fromMs, after, limit)),
    find: (tenant, id) => worlds.asTenant(tenant, (tx) => find(tx, tenant, id)),
    watch: (tenant, run) => watchers.watch(nameOf(tenant), run),
    listen: () => watchers.listen(system, channel),
  }
}

async function keepOpen(tx: Tx, { organizationId, test }: Tenant, openMs: number): Promise<number> {
  const [{ nowMs }] = await tx<[{ nowMs: number }]>`
    insert into webhook_streams (organization_id, test, open_until)
    values (${organizationId}, ${test}, now() + ${openMs} * interval '1 millisecond')
    on conflict (organization_id, test) do update set open_until = greatest(webhook_streams.open_until, excluded.open_until)
    returning floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`
  return nowMs
}

async function positions(
  tx: Tx,
  { organizationId, test }: Tenant,
  fromMs: number,
  after: EventPosition | null,
  limit: number,
): Promise<EventPosition[]> {
  // The column is null for events from before schema 51.
  const storedAt = tx`coalesce(stored_at, created_at)`
  const rows = await tx<{ id: string; storedAt: Date }[]>`
    select id, ${storedAt} as "storedAt" from webhook_events
    where organization_id = ${organizationId} and test = ${test} and ${storedAt} >= ${new Date(fromMs)}
      and type <> 'call.pre_call' and call_id is not null
      ${after === null ? tx`` : tx`and (${storedAt}, id) > (${new Date(after.storedAtMs)}, ${after.id})`}
    order by ${storedAt}, id limit ${limit}`
  return rows.map(({ id, storedAt: at }) => ({ id, storedAtMs: at.getTime() }))
}

type EventRow = Omit<StoredWebhookEvent, 'occurredAtMs'> & { occurredAt: Date }

async function find(tx: Tx, { organizationId, test }: Tenant, id: string): Promise<StoredWebhookEvent | null> {
  const [row] = await tx<EventRow[]>`
    select id, type, call_id as "callId", version, body, occurred_at as "occurredAt"
    from webhook_events where organization_id = ${organizationId} and test = ${test} and id = ${id}`
  if (row === undefined) return null
  const { occurredAt, ...event } = row
  return { ...event, occurredAtMs: occurredAt.getTime() }
}
