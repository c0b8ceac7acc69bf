import type { Clock } from '../ports/system.ts'
import type {
  Agent,
  AgentChange,
  AgentSettings,
  AgentStore,
  NewAgent,
  RmsgRefusal,
  WebhookConflict,
  WithWebhooks,
} from '../records/agent.ts'
import type { Author } from '../records/author.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault, refuseIssues, requireResource } from '../records/resource-fault.ts'
import { byField, issuesOfWebhooks, makeWebhooks, noWebhooks } from '../webhooks/agent-webhooks.ts'
import type { HostPolicy } from '../webhooks/target.ts'
import { type AgentRules, issuesOfSettings, issuesOfWhole } from './check-agent.ts'

export type AgentDeps = {
  store: AgentStore
  rules: AgentRules
  /** Decides which hosts are allowed in webhook URLs. */
  hosts: HostPolicy
  clock: Clock
  agentId: () => string
  endpointId: () => string
  /** Limits the agents per organization, for live and test data separately. */
  agentsMax: number
}

/** The operations on agents. An operation that refuses a request throws ResourceFault. */
export type Agents = {
  create(tenant: Tenant, input: NewAgent & WithWebhooks, by: Author): Promise<Agent>
  list(tenant: Tenant): Promise<Agent[]>
  get(tenant: Tenant, id: string): Promise<Agent>
  /**
   * Changes an agent. Live sessions keep their settings. `expectedVersion` is the agent's version as the client knows
   * it, or null if the client accepts any version.
   */
  change(
    tenant: Tenant,
    id: string,
    change: AgentChange & WithWebhooks,
    by: Author,
    expectedVersion: number | null,
  ): Promise<Agent>
  remove(tenant: Tenant, id: string): Promise<void>
}

export function createAgents({ store, rules, hosts, clock, agentId, endpointId, agentsMax }: AgentDeps): Agents {
  return {
    async create({ organizationId, test }, { webhooks: sent, ...input }, by) {
      const settings = changed(input, {})
      const nowMs = clock.nowMs()
      const owner = { id: agentId(), organizationId, test }
      const made = makeWebhooks({ ...owner, name: settings.name }, sent ?? {}, noWebhooks, { endpointId, nowMs })
      refuseIssues([
        ...(await issuesOfSettings(input, rules, organizationId)),
        ...issuesOfWhole(settings),
        ...issuesOfWebhooks(sent ?? {}, hosts),
        ...made.issues,
      ])
      const agent = { ...owner, settings, createdAtMs: nowMs, updatedAtMs: nowMs }
      const outcome = await store.insert(agent, made.webhooks, agentsMax, by)
      if (outcome === 'limit_reached')
        throw new ResourceFault({ kind: 'limit_reached', resource: 'agent', limit: agentsMax })
      if (outcome !== 'inserted') throw conflict(outcome)
      if (settings.rmsg !== undefined) return requireResource(await store.find(owner, agent.id))
      return { ...agent, version: 1, webhooks: byField(made.webhooks) }
    },
    list: (tenant) => store.list(tenant),
    get: async (tenant, id) => requireResource(await store.find(tenant, id)),
    async change(tenant, id, { webhooks: sent, ...change }, by, expectedVersion) {
      refuseIssues([
        ...(await issuesOfSettings(change, rules, tenant.organizationId)),
        ...issuesOfWebhooks(sent ?? {}, hosts),
      ])
      if (sent === undefined && Object.keys(change).length === 0)
        return requireVersion(requireResource(await store.find(tenant, id)), expectedVersion)
      const outcome = await store.change(
        tenant,
        id,
        (agent, stored) => {
          requireVersion(agent, expectedVersion)
          const settings = changed(agent.settings, change)
          const nowMs = clock.nowMs()
          const owner = { ...agent, name: settings.name }
          const made = sent === undefined ? null : makeWebhooks(owner, sent ?? {}, stored, { endpointId, nowMs })
          refuseIssues([...issuesOfWhole(settings), ...(made?.issues ?? [])])
          return {
            agent: { ...agent, settings, updatedAtMs: nowMs },
            webhooks: made?.webhooks ?? 'kept',
            choosesNumber: 'rmsg' in change,
          }
        },
        by,
      )
      if (outcome === 'name_taken' || (outcome !== null && !('settings' in outcome))) throw conflict(outcome)
      return requireResource(outcome)
    },
    async remove(tenant, id) {
      const removal = await store.remove(tenant, id)
      if (removal.state === 'unknown') throw new ResourceFault({ kind: 'not_found' })
      if (removal.state === 'in_use') {
        const { phoneNumberIds, callbackIds } = removal
        throw new ResourceFault({ kind: 'agent_in_use', phoneNumberIds, callbackIds })
      }
    },
  }
}

function requireVersion(agent: Agent, expected: number | null): Agent {
  if (expected === null || expected === agent.version) return agent
  throw new ResourceFault({ kind: 'version_changed', version: agent.version })
}

/** Applies a change to the settings. A setting in the change replaces the whole stored value, and null removes it. */
function changed(settings: NewAgent | AgentSettings, change: AgentChange): AgentSettings {
  const entries = Object.entries({ ...settings, ...change }).filter(([, value]) => value !== null)
  // The three required settings are never null, because their types exclude null.
  return Object.fromEntries(entries) as AgentSettings
}

export function conflict(outcome: 'name_taken' | WebhookConflict | RmsgRefusal): ResourceFault {
  if (outcome === 'name_taken') return new ResourceFault({ kind: 'name_taken', resource: 'agent' })
  if ('conflictsWith' in outcome)
    return new ResourceFault({ kind: 'pre_call_conflict', endpointId: outcome.conflictsWith })
  return new ResourceFault(
    outcome.rmsgNumber === 'unknown'
      ? { kind: 'named_not_found', path: ['rmsg', 'phoneNumberId'] }
      : { kind: 'rmsg_number_unavailable' },
  )
}
