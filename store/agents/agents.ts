/** Agents. Every statement reads or writes one organization's live or test rows. */
import { changedSettings } from '../../domain/agents/changed.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Agent, AgentSettings, AgentStore, RmsgRefusal, WebhookConflict } from '../../domain/records/agent.ts'
import type { AgentWebhooks } from '../../domain/records/agent-webhook-fields.ts'
import type { Author } from '../../domain/records/author.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { StoredEndpoint } from '../../domain/records/webhook-endpoint-store.ts'
import { byField } from '../../domain/webhooks/agent-webhooks.ts'
import { callbacksOfAgent } from '../calls/callbacks.ts'
import { numbersOfAgent } from '../numbers/number-rows.ts'
import { chooseNumber, giveNumber, numberOfAgent, withNumber, withoutNumber } from '../numbers/rmsg-agents.ts'
import { lockTenant } from '../postgres/advisory-locks.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Worlds } from '../postgres/tenant.ts'
import { isUniqueViolation } from '../postgres/unique-violation.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { lockEndpoints } from '../webhooks/webhook-conflicts.ts'
import {
  forgetAgent,
  readSecrets,
  readWebhooks,
  renameWebhooks,
  replaceWebhooks,
  webhookConflict,
} from './agent-webhooks.ts'
import { addFirstVersion, addVersion, keepPresent } from './version-rows.ts'

type Row = {
  id: string
  organizationId: string
  test: boolean
  settings: AgentSettings
  rmsgNumberId: string | null
  version: number
  createdAt: Date
  updatedAt: Date
}

/** The form of an agent's id. If a text has another form, it names no agent, so no statement searches for it. */
const idForm = /^agent_[0-9A-Za-z]{22}$/
/** An agent in use is not deleted. The refusal names at most 32 numbers and 32 callbacks. */
const namedMax = 32
/** The unique index of agents' names. */
export const nameIndex = 'agents_organization_id_test_name_key_key'

export function isAgentId(id: string): boolean {
  return idForm.test(id)
}

export function createAgentStore(worlds: Worlds, sealer: () => Sealer, clock: Clock): AgentStore {
  return {
    list: (tenant) =>
      worlds.asTenant(tenant, async (tx) => {
        const { organizationId, test } = tenant
        const rows = await tx<Row[]>`
          select ${columns(tx)} from agents where organization_id = ${organizationId} and test = ${test}
          order by position desc`
        const webhooks = await readWebhooks(tx, tenant, null)
        return rows.map((row) => agentOf(row, webhooks.get(row.id)))
      }),
    find: async (tenant, id) =>
      isAgentId(id) ? worlds.asTenant(tenant, async (tx) => (await read(tx, tenant, id))[0] ?? null) : null,
    insert: (agent, webhooks, agentsMax, by) =>
      worlds.asTenant(agent, async (tx) => {
        const outcome = await insert(tx, sealer, agent, webhooks, agentsMax)
        if (outcome !== 'inserted') return outcome
        const changed = changedSettings({}, agent.settings)
        const version = { changed, by, restoredFrom: null, nowMs: agent.createdAtMs }
        await addFirstVersion(tx, { ...tenantOf(agent), agentId: agent.id }, version)
        return outcome
      }),
    change: async (tenant, id, change, by) => {
      if (!isAgentId(id)) return null
      try {
        return await worlds.asTenant(tenant, (tx) => changeOne(tx, sealer, tenant, id, change, by))
      } catch (error) {
        if (isUniqueViolation(error, nameIndex)) return 'name_taken'
        throw error
      }
    },
    remove: async (tenant, id) => {
      if (!isAgentId(id)) return { state: 'unknown' }
      return worlds.asTenant(tenant, async (tx) => {
        await lockEndpoints(tx, tenant)
        // Locks the agent: a transaction assigning this agent to a number waits, and then finds no agent. But a live
        // call may still promise a callback by the deleted agent.
        if ((await read(tx, tenant, id, true)).length === 0) return { state: 'unknown' }
        const phoneNumberIds = await numbersOfAgent(tx, tenant, id, namedMax)
        const callbackIds = await callbacksOfAgent(tx, tenant, id, namedMax)
        if (phoneNumberIds.length + callbackIds.length > 0) return { state: 'in_use', phoneNumberIds, callbackIds }
        const { organizationId, test } = tenant
        const { count } = await tx`
          delete from agents where organization_id = ${organizationId} and test = ${test} and id = ${id}`
        await forgetAgent(tx, tenant, id, clock.nowMs())
        return { state: count > 0 ? 'removed' : 'unknown' }
      })
    },
  }
}

/**
 * Serializes writes to a tenant's agent names. Otherwise two inserts could both see room for one more agent, and two
 * transactions that swap names would wait for each other.
 */
const lockNames = (tx: Tx, tenant: Tenant) => lockTenant(tx, tenant, 'agentNames')

async function insert(
  tx: Tx,
  sealer: () => Sealer,
  agent: Omit<Agent, 'webhooks' | 'version'>,
  webhooks: readonly StoredEndpoint[],
  agentsMax: number,
): Promise<'inserted' | 'name_taken' | 'limit_reached' | WebhookConflict | RmsgRefusal> {
  const { organizationId, test, id, settings } = agent
  if (webhooks.length > 0) await lockEndpoints(tx, agent)
  await lockNames(tx, agent)
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from agents where organization_id = ${organizationId} and test = ${test}`
  if ((row?.count ?? 0) >= agentsMax) return 'limit_reached'
  const conflictsWith = await webhookConflict(tx, webhooks)
  if (conflictsWith !== null) return { conflictsWith }
  const chosen = settings.rmsg === undefined ? null : await chooseNumber(tx, agent, id, settings.rmsg)
  if (typeof chosen === 'string') return { rmsgNumber: chosen }
  const { count } = await tx`
    insert into agents (organization_id, test, id, name_key, settings, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${nameKey(settings.name)}, ${stored(settings)}::text::json,
      ${new Date(agent.createdAtMs)}, ${new Date(agent.updatedAtMs)})
    on conflict (organization_id, test, name_key) do nothing`
  if (count === 0) return 'name_taken'
  if (chosen !== null) await giveNumber(tx, agent, id, chosen)
  await replaceWebhooks(tx, sealer, agent, {}, webhooks)
  return 'inserted'
}

const tenantOf = ({ organizationId, test }: Tenant): Tenant => ({ organizationId, test })

type Change = Parameters<AgentStore['change']>[2]

/** Changes an agent, and adds a version if a setting has changed. */
async function changeOne(
  tx: Tx,
  sealer: () => Sealer,
  tenant: Tenant,
  id: string,
  change: Change,
  by: Author,
): Promise<Agent | WebhookConflict | RmsgRefusal | null> {
  const of = { ...tenant, agentId: id }
  let changed: readonly string[] = []
  const outcome = await applyChange(tx, sealer, tenant, id, async (agent, webhooks) => {
    const wanted = change(agent, webhooks)
    await keepPresent(tx, of)
    changed = changedSettings(withoutNumber(agent.settings), withoutNumber(wanted.agent.settings))
    return wanted
  })
  if (outcome === null || !('settings' in outcome) || changed.length === 0) return outcome
  const version = await addVersion(tx, of, { changed, by, restoredFrom: null, nowMs: outcome.updatedAtMs })
  return { ...outcome, version }
}

type ApplyChange = (...of: Parameters<Change>) => Promise<ReturnType<Change>>

/** Changes an agent without a new version. */
export async function applyChange(
  tx: Tx,
  sealer: () => Sealer,
  tenant: Tenant,
  id: string,
  change: ApplyChange,
): Promise<Agent | WebhookConflict | RmsgRefusal | null> {
  await lockEndpoints(tx, tenant)
  const [agent] = await read(tx, tenant, id, true)
  if (!agent) return null
  const secrets = await readSecrets(tx, sealer, tenant, id)
  const { agent: changed, webhooks, choosesNumber } = await change(agent, { endpoints: agent.webhooks, secrets })
  const { settings } = changed
  const conflictsWith = webhooks === 'kept' ? null : await webhookConflict(tx, webhooks)
  if (conflictsWith !== null) return { conflictsWith }
  if (nameKey(settings.name) !== nameKey(agent.settings.name)) await lockNames(tx, tenant)
  const chosen = choosesNumber ? await chooseNumber(tx, tenant, id, settings.rmsg) : null
  if (typeof chosen === 'string') return { rmsgNumber: chosen }
  if (choosesNumber) await giveNumber(tx, tenant, id, chosen)
  await tx`
    update agents set name_key = ${nameKey(settings.name)}, settings = ${stored(settings)}::text::json,
      updated_at = ${new Date(changed.updatedAtMs)}
    where organization_id = ${tenant.organizationId} and test = ${tenant.test} and id = ${id}`
  if (webhooks !== 'kept') await replaceWebhooks(tx, sealer, tenant, agent.webhooks, webhooks)
  else if (settings.name !== agent.settings.name) await renameWebhooks(tx, tenant, { id, name: settings.name })
  const shown = choosesNumber ? withNumber(settings, chosen?.id ?? null) : settings
  return { ...changed, settings: shown, webhooks: webhooks === 'kept' ? agent.webhooks : byField(webhooks) }
}

const stored = (settings: AgentSettings) => JSON.stringify(withoutNumber(settings))

async function read(tx: Tx, tenant: Tenant, id: string, locks = false): Promise<Agent[]> {
  const { organizationId, test } = tenant
  const rows = await tx<Row[]>`
    select ${columns(tx)} from agents where organization_id = ${organizationId} and test = ${test} and id = ${id}
    ${locks ? tx`for no key update` : tx``}`
  if (rows.length === 0) return []
  const webhooks = await readWebhooks(tx, tenant, id)
  return rows.map((row) => agentOf(row, webhooks.get(row.id)))
}

/**
 * Returns equal keys for two names that people cannot tell apart. U+0000 is replaced, because Postgres text cannot hold
 * it.
 */
function nameKey(name: string): string {
  return name.trim().normalize('NFC').replaceAll('\0', '\uFFFD')
}

function agentOf({ createdAt, updatedAt, rmsgNumberId, ...agent }: Row, webhooks: AgentWebhooks = {}): Agent {
  const settings = withNumber(agent.settings, rmsgNumberId)
  return { ...agent, settings, webhooks, createdAtMs: createdAt.getTime(), updatedAtMs: updatedAt.getTime() }
}

const columns = (tx: Tx) =>
  tx`id, organization_id as "organizationId", test, settings, version, ${numberOfAgent(tx)}, created_at as "createdAt", updated_at as "updatedAt"`
