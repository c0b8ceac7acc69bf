/** Agents' webhook endpoints. Lock the tenant's endpoints before each change. */
import type { AgentWebhooks, StoredWebhooks } from '../../domain/records/agent-webhook-fields.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { legacyFields } from '../../domain/records/webhook-endpoint.ts'
import type { StoredEndpoint } from '../../domain/records/webhook-endpoint-store.ts'
import { nameOf } from '../../domain/webhooks/agent-webhooks.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, storable } from '../postgres/row-values.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { conflictOf } from '../webhooks/webhook-conflicts.ts'
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
} from '../webhooks/webhook-endpoint-rows.ts'
import { cancelDeliveries } from '../webhooks/webhook-outbox.ts'

/** Reads the webhook fields by agent id: for one agent, or for all the tenant's agents if `agentId` is null. */
export async function readWebhooks(
  tx: Tx,
  tenant: Tenant,
  agentId: string | null,
): Promise<ReadonlyMap<string, AgentWebhooks>> {
  const rows = await tx<EndpointRow[]>`
    select ${endpointColumns(tx)} from webhook_endpoints
    ${ofTenant(tx, tenant)} and ${agentId === null ? tx`legacy_agent_id is not null` : tx`legacy_agent_id = ${agentId}`}`
  const byAgent = new Map<string, AgentWebhooks>()
  for (const endpoint of rows.map(endpointOf)) {
    if (endpoint.legacy === null) continue
    const { agentId, field } = endpoint.legacy
    byAgent.set(agentId, { ...byAgent.get(agentId), [field]: endpoint })
  }
  return byAgent
}

/** Reads the secrets of agents' endpoints. The result is a function to open one endpoint's secrets. */
export async function readSecrets(
  tx: Tx,
  sealer: () => Sealer,
  tenant: Tenant,
  agentId: string,
): Promise<StoredWebhooks['secrets']> {
  const rows = await tx<({ id: string } & SecretColumns)[]>`
    select id, ${secretColumns(tx)} from webhook_endpoints ${ofTenant(tx, tenant)} and legacy_agent_id = ${agentId}`
  const sealed = new Map(rows.map((row) => [row.id, row]))
  return (endpoint) => openSecrets(sealer, endpoint, sealed.get(endpoint.id) ?? unsealed)
}

const unsealed: SecretColumns = { secretsId: null, bytes: null, sealedBy: null }

/**
 * Finds a stored endpoint for pre-call events in conflict with `webhooks`: only one endpoint may answer a pre-call
 * event. Returns the endpoint's id, or null.
 */
export async function webhookConflict(tx: Tx, webhooks: readonly StoredEndpoint[]): Promise<string | null> {
  for (const { endpoint } of webhooks) {
    const other = await conflictOf(tx, endpoint)
    if (other !== null) return other.id
  }
  return null
}

/**
 * Replaces the webhook fields named in `stored`. If a field's endpoint was disabled, it is enabled again, and its old
 * deliveries are cancelled.
 */
export async function replaceWebhooks(
  tx: Tx,
  sealer: () => Sealer,
  tenant: Tenant,
  stored: AgentWebhooks,
  webhooks: readonly StoredEndpoint[],
): Promise<void> {
  const storedIds = legacyFields.flatMap((field) => stored[field]?.id ?? [])
  const remainingIds = new Set(webhooks.map(({ endpoint }) => endpoint.id))
  await removeEndpoints(
    tx,
    tenant,
    storedIds.filter((id) => !remainingIds.has(id)),
  )
  const disabled = legacyFields.flatMap((field) => (stored[field]?.disabledAtMs == null ? [] : [stored[field].id]))
  await cancelDeliveries(tx, tenant, disabled, 'disabled')
  for (const { endpoint, secrets } of webhooks) {
    const sealed = sealSecrets(sealer, endpoint, secrets)
    await (storedIds.includes(endpoint.id)
      ? updateEndpoint(tx, endpoint, sealed)
      : insertEndpoint(tx, endpoint, sealed))
  }
}

/** Renames an agent's endpoints to the agent's new name. Their settings stay. */
export async function renameWebhooks(
  tx: Tx,
  tenant: Tenant,
  { id, name }: { id: string; name: string },
): Promise<void> {
  for (const field of legacyFields)
    await tx`
      update webhook_endpoints set name = ${storable(nameOf({ name }, field))}
      ${ofTenant(tx, tenant)} and legacy_agent_id = ${id} and legacy_field = ${field}`
}

/**
 * Removes a deleted agent from the endpoints' agent lists, and deletes the endpoints made from its webhook fields. If
 * an endpoint loses its last agent, it is disabled.
 */
export async function forgetAgent(tx: Tx, tenant: Tenant, agentId: string, nowMs: number): Promise<void> {
  const own = await tx<{ id: string }[]>`
    select id from webhook_endpoints ${ofTenant(tx, tenant)} and legacy_agent_id = ${agentId}`
  await removeEndpoints(
    tx,
    tenant,
    own.map(({ id }) => id),
  )
  const now = new Date(nowMs)
  const left = await tx<{ id: string; isDisabled: boolean }[]>`
    update webhook_endpoints set agent_ids = agent_ids - ${agentId}::text, updated_at = ${now},
      disabled_at = case when agent_ids - ${agentId}::text = '[]' then coalesce(disabled_at, ${now}) else disabled_at end,
      disabled_reason = case when agent_ids - ${agentId}::text = '[]' then coalesce(disabled_reason, 'agents_deleted')
        else disabled_reason end
    ${ofTenant(tx, tenant)} and agent_ids ? ${agentId}::text
    returning id, disabled_at is not null as "isDisabled"`
  const disabled = left.filter(({ isDisabled }) => isDisabled).map(({ id }) => id)
  await cancelDeliveries(tx, tenant, disabled, 'disabled')
}

async function removeEndpoints(tx: Tx, tenant: Tenant, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx`delete from webhook_endpoints ${ofTenant(tx, tenant)} and id = any(${arrayLiteral(ids)}::uuid[])`
  await cancelDeliveries(tx, tenant, ids, 'deleted')
}
