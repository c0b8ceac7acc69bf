/**
 * Webhook endpoints. Every statement reads or writes one organization's live or test rows. Changes to a tenant's
 * endpoints are serialized. Otherwise two changes could each fit the stored endpoints but conflict with each other.
 */
import type { Call } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { type Endpoint, tagsMatch, type WebhookEventType } from '../../domain/records/webhook-endpoint.ts'
import type { EndpointOutcome, EndpointStore, StoredEndpoint } from '../../domain/records/webhook-endpoint-store.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, isUuid } from '../postgres/row-values.ts'
import type { Worlds } from '../postgres/tenant.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { conflictOf, lockEndpoints } from './webhook-conflicts.ts'
import {
  type EndpointRow,
  endpointColumns,
  endpointOf,
  insertEndpoint,
  ofTenant,
  openSecrets,
  type SecretColumns,
  sealSecrets,
  secretColumns,
  updateEndpoint,
} from './webhook-endpoint-rows.ts'
import { cancelDeliveries } from './webhook-outbox.ts'

export function createEndpointStore(worlds: Worlds, sealer: () => Sealer): EndpointStore {
  return {
    list: (tenant) =>
      worlds.asTenant(tenant, async (tx) => {
        const rows = await tx<EndpointRow[]>`
          select ${endpointColumns(tx)} from webhook_endpoints ${ofTenant(tx, tenant)} order by position desc`
        return rows.map(endpointOf)
      }),
    find: async (tenant, id) => {
      if (!isUuid(id)) return null
      return worlds.asTenant(tenant, async (tx) => {
        const [row] = await tx<EndpointRow[]>`
          select ${endpointColumns(tx)} from webhook_endpoints ${ofTenant(tx, tenant)} and id = ${id}`
        return row ? endpointOf(row) : null
      })
    },
    insert: (stored, endpointsMax) =>
      worlds.asTenant(stored.endpoint, (tx) => insert(tx, sealer, stored, endpointsMax)),
    change: async (tenant, id, change) => {
      if (!isUuid(id)) return { state: 'unknown' }
      return worlds.asTenant(tenant, async (tx) => {
        await lockEndpoints(tx, tenant)
        const [row] = await tx<(EndpointRow & SecretColumns)[]>`
          select ${endpointColumns(tx)}, ${secretColumns(tx)} from webhook_endpoints
          ${ofTenant(tx, tenant)} and id = ${id} for update`
        if (!row) return { state: 'unknown' }
        const { secretsId, bytes, sealedBy, ...shown } = row
        const endpoint = endpointOf(shown)
        if (endpoint.legacy !== null) return { state: 'legacy' }
        const sealed = { secretsId, bytes, sealedBy } as SecretColumns
        const changed = change(endpoint, () => openSecrets(sealer, endpoint, sealed))
        const refused = await refusalOf(tx, changed.endpoint)
        if (refused !== null) return refused
        await updateEndpoint(tx, changed.endpoint, sealSecrets(sealer, changed.endpoint, changed.secrets))
        // An endpoint gets no deliveries from the time before it was enabled again. Another process may still have had
        // a claim on such a delivery while the endpoint was disabled.
        if (endpoint.disabledAtMs !== null || changed.endpoint.disabledAtMs !== null)
          await cancelDeliveries(tx, tenant, [id], 'disabled')
        return { state: 'written', endpoint: changed.endpoint }
      })
    },
    remove: async (tenant, id) => {
      if (!isUuid(id)) return 'unknown'
      return worlds.asTenant(tenant, async (tx) => {
        await lockEndpoints(tx, tenant)
        const [row] = await tx<{ isLegacy: boolean }[]>`
          select legacy_agent_id is not null as "isLegacy" from webhook_endpoints ${ofTenant(tx, tenant)} and id = ${id}`
        if (!row) return 'unknown'
        if (row.isLegacy) return 'legacy'
        await tx`delete from webhook_endpoints ${ofTenant(tx, tenant)} and id = ${id}`
        await cancelDeliveries(tx, tenant, [id], 'deleted')
        return 'removed'
      })
    },
  }
}

/**
 * Returns the endpoints that receive at least one of these event types for a call, oldest first. If the call has no
 * agent, only endpoints for all agents match.
 */
export async function matchingEndpoints(
  tx: Tx,
  tenant: Tenant,
  types: readonly WebhookEventType[],
  { agentId, webhookTags }: Pick<Call, 'agentId' | 'webhookTags'>,
): Promise<Endpoint[]> {
  const rows = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)} from webhook_endpoints
    ${ofTenant(tx, tenant)} and (legacy_agent_id is null or legacy_agent_id = ${agentId}) and disabled_at is null
      and events ?| ${arrayLiteral(types)}::text[] and (all_agents or agent_ids ? ${agentId}::text)
    order by position`
  return rows.map(endpointOf).filter(({ filterTags }) => tagsMatch(filterTags, webhookTags))
}

/** Returns the existing and enabled endpoints among `ids`, oldest first. */
export async function enabledEndpoints(tx: Tx, tenant: Tenant, ids: readonly string[]): Promise<Endpoint[]> {
  if (ids.length === 0) return []
  const rows = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)} from webhook_endpoints
    ${ofTenant(tx, tenant)} and id = any(${arrayLiteral(ids)}::uuid[]) and disabled_at is null
    order by position`
  return rows.map(endpointOf)
}

async function insert(
  tx: Tx,
  sealer: () => Sealer,
  { endpoint, secrets }: StoredEndpoint,
  endpointsMax: number,
): Promise<EndpointOutcome> {
  await lockEndpoints(tx, endpoint)
  const refused = await refusalOf(tx, endpoint)
  if (refused?.state === 'agent_unknown') return refused
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from webhook_endpoints ${ofTenant(tx, endpoint)} and legacy_agent_id is null`
  if ((row?.count ?? 0) >= endpointsMax) return { state: 'limit_reached' }
  if (refused !== null) return refused
  await insertEndpoint(tx, endpoint, sealSecrets(sealer, endpoint, secrets))
  return { state: 'written', endpoint }
}

async function refusalOf(tx: Tx, endpoint: Endpoint): Promise<Exclude<EndpointOutcome, { state: 'written' }> | null> {
  const at = await firstUnknownAgent(tx, endpoint)
  if (at !== null) return { state: 'agent_unknown', at }
  const other = await conflictOf(tx, endpoint)
  return other && { state: 'conflict', endpointId: other.id }
}

/**
 * Returns the index of the first agent that does not exist, or null. Locks the agents until the transaction ends, so no
 * agent is deleted before its endpoint is stored.
 */
async function firstUnknownAgent(tx: Tx, { agentIds, ...tenant }: Endpoint): Promise<number | null> {
  if (agentIds.length === 0) return null
  const rows = await tx<{ id: string }[]>`
    select id from agents ${ofTenant(tx, tenant)} and id = any(${arrayLiteral(agentIds.filter(isText))}::text[])
    for key share`
  const existingIds = new Set(rows.map(({ id }) => id))
  const at = agentIds.findIndex((id) => !existingIds.has(id))
  return at < 0 ? null : at
}

/** Returns true if the id can be a Postgres text, which cannot contain U+0000. */
const isText = (id: string) => !id.includes('\0')
