/** The operations on agents' versions. An operation that refuses a request throws ResourceFault. */
import type { Agent } from '../records/agent.ts'
import type {
  AgentVersion,
  AgentVersionItem,
  AgentVersionStore,
  RestoredTool,
  VersionTool,
} from '../records/agent-version.ts'
import type { Author } from '../records/author.ts'
import type { Tenant } from '../records/organization.ts'
import { refuseIssues, requireResource } from '../records/resource-fault.ts'
import type { Tool } from '../records/tool.ts'
import { isSameOrigin } from '../webhooks/target.ts'
import { conflict } from './agents.ts'
import { type AgentRules, issuesOfSettings } from './check-agent.ts'

export type AgentVersions = {
  list(tenant: Tenant, agentId: string, page: { limit: number; before: number | null }): Promise<VersionPage>
  get(tenant: Tenant, agentId: string, version: number): Promise<AgentVersion>
  /** Gives the agent a version's settings and tools again. Live sessions keep the settings with which they began. */
  restore(tenant: Tenant, agentId: string, version: number, by: Author): Promise<Agent>
}

/** The next page begins below the version `next`. Null if there is no next page. */
export type VersionPage = { versions: readonly AgentVersionItem[]; next: number | null }

export function createAgentVersions(store: AgentVersionStore, rules: AgentRules): AgentVersions {
  const get = async (tenant: Tenant, agentId: string, version: number) =>
    requireResource(await store.find(tenant, agentId, version))
  return {
    get,
    async list(tenant, agentId, { limit, before }) {
      const found = requireResource(await store.list(tenant, agentId, limit + 1, before), 'agent')
      const versions = found.slice(0, limit)
      return { versions, next: found.length > limit ? (versions.at(-1)?.version ?? null) : null }
    },
    async restore(tenant, agentId, number, by) {
      const version = await get(tenant, agentId, number)
      // Checks the stored settings again, because the catalog may have lost a model or a provider since the version was
      // stored.
      refuseIssues(await issuesOfSettings(version.settings, rules, tenant.organizationId))
      const outcome = await store.restore(tenant, version, by, restoredTool)
      if (outcome === 'name_taken' || (outcome !== null && !('settings' in outcome))) throw conflict(outcome)
      return requireResource(outcome)
    },
  }
}

/**
 * A secret must not reach another server. So a restored tool keeps its present secrets only if the version has the
 * tool's present origin (scheme, host and port).
 */
function restoredTool(ofVersion: VersionTool, current: Tool | null): RestoredTool {
  const { source } = ofVersion
  if (source.kind !== 'webhook') return { tool: ofVersion, secrets: 'none' }
  const present = current?.source
  const keeps = present?.kind === 'webhook' && isSameOrigin(present.url, source.url)
  const { hasSecret, authHeaders } = keeps ? present : { hasSecret: false, authHeaders: null }
  return { tool: { ...ofVersion, source: { ...source, hasSecret, authHeaders } }, secrets: keeps ? 'kept' : 'none' }
}
