import type { Tenant } from '../access/organization.ts'
import type { Clock } from '../ports/system.ts'
import { ResourceFault, refuseIssues } from '../resource-fault.ts'
import type { Agent, AgentChange, AgentSettings, AgentStore, NewAgent } from './agent.ts'
import { type AgentRules, issuesOfSettings, issuesOfWhole } from './check-agent.ts'

export type AgentDeps = {
  store: AgentStore
  rules: AgentRules
  clock: Clock
  agentId: () => string
  /** The limit for the agents of an organization and a world. */
  agentsMax: number
}

/** Every operation throws ResourceFault. */
export type Agents = {
  create(tenant: Tenant, wanted: NewAgent): Promise<Agent>
  list(tenant: Tenant): Promise<Agent[]>
  get(tenant: Tenant, id: string): Promise<Agent>
  /** Live sessions keep the settings that they were started with. */
  change(tenant: Tenant, id: string, change: AgentChange): Promise<Agent>
  remove(tenant: Tenant, id: string): Promise<void>
}

export function createAgents({ store, rules, clock, agentId, agentsMax }: AgentDeps): Agents {
  return {
    async create({ organizationId, test }, wanted) {
      const settings = changed(wanted, {})
      refuseIssues([...issuesOfSettings(wanted, rules), ...issuesOfWhole(settings)])
      const nowMs = clock.nowMs()
      const agent: Agent = { id: agentId(), organizationId, test, settings, createdAtMs: nowMs, updatedAtMs: nowMs }
      const outcome = await store.insert(agent, agentsMax)
      if (outcome === 'name_taken') throw new ResourceFault({ kind: 'name_taken', resource: 'agent' })
      if (outcome === 'limit_reached')
        throw new ResourceFault({ kind: 'limit_reached', resource: 'agent', limit: agentsMax })
      return agent
    },
    list: (tenant) => store.list(tenant),
    get: async (tenant, id) => found(await store.find(tenant, id)),
    async change(tenant, id, change) {
      refuseIssues(issuesOfSettings(change, rules))
      if (Object.keys(change).length === 0) return found(await store.find(tenant, id))
      const outcome = await store.change(tenant, id, (agent) => {
        const settings = changed(agent.settings, change)
        refuseIssues(issuesOfWhole(settings))
        return { ...agent, settings, updatedAtMs: clock.nowMs() }
      })
      if (outcome === 'name_taken') throw new ResourceFault({ kind: 'name_taken', resource: 'agent' })
      return found(outcome)
    },
    async remove(tenant, id) {
      const removal = await store.remove(tenant, id)
      if (removal.state === 'unknown') throw new ResourceFault({ kind: 'not_found' })
      if (removal.state === 'in_use')
        throw new ResourceFault({ kind: 'agent_in_use', callbackIds: removal.callbackIds })
    },
  }
}

/** A setting that is sent replaces the whole value, and null removes it. */
function changed(settings: NewAgent | AgentSettings, change: AgentChange): AgentSettings {
  const entries = Object.entries({ ...settings, ...change }).filter(([, value]) => value !== null)
  // The three settings that are required are never null: their types say so.
  return Object.fromEntries(entries) as AgentSettings
}

function found(agent: Agent | null): Agent {
  if (agent === null) throw new ResourceFault({ kind: 'not_found' })
  return agent
}
