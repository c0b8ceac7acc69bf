/** Reads and restores the versions of agents. */
import type { Clock } from '../../domain/ports/system.ts'
import type { AgentSettings } from '../../domain/records/agent.ts'
import type {
  AgentVersion,
  AgentVersionItem,
  AgentVersionStore,
  VersionTool,
} from '../../domain/records/agent-version.ts'
import type { Author } from '../../domain/records/author.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Worlds } from '../postgres/tenant.ts'
import { isUniqueViolation } from '../postgres/unique-violation.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { hasAgent, type Shown } from './agent-tools.ts'
import { isAgentId, nameIndex } from './agents.ts'
import { restoreVersion } from './restore-version.ts'
import { type VersionOf, whereVersions } from './version-rows.ts'

type ItemRow = {
  version: number
  createdAt: Date
  changed: string[]
  restoredFrom: number | null
  byType: Author['type'] | null
  byId: string | null
  byName: string | null
  calls: number
}

type StoredTool = Omit<VersionTool, keyof Shown> & { shown: Shown }
type Row = ItemRow & { settings: AgentSettings; tools: StoredTool[]; agentCreatedAt: Date }

export function createAgentVersionStore(worlds: Worlds, sealer: () => Sealer, clock: Clock): AgentVersionStore {
  return {
    list: async (tenant, agentId, limit, before) => {
      if (!isAgentId(agentId)) return null
      return worlds.asTenant(tenant, async (tx) => {
        if (!(await hasAgent(tx, tenant, agentId))) return null
        const rows = await tx<ItemRow[]>`
          select ${itemColumns(tx)} from agent_versions ${whereVersions(tx, { ...tenant, agentId })}
            ${before === null ? tx`` : tx`and version < ${before}`}
          order by version desc limit ${limit}`
        return rows.map(itemOf)
      })
    },
    find: async (tenant, agentId, version) => {
      if (!isAgentId(agentId)) return null
      return worlds.asTenant(tenant, (tx) => find(tx, { ...tenant, agentId }, version))
    },
    restore: async (tenant, version, by, restoredTool) => {
      const change = { by, restoredTool, nowMs: clock.nowMs() }
      try {
        return await worlds.asTenant(tenant, (tx) => restoreVersion(tx, sealer, tenant, version, change))
      } catch (error) {
        if (isUniqueViolation(error, nameIndex)) return 'name_taken'
        throw error
      }
    },
  }
}

async function find(tx: Tx, of: VersionOf, version: number): Promise<AgentVersion | null> {
  const [row] = await tx<Row[]>`
    select ${itemColumns(tx)}, settings, tools,
      (select a.created_at from agents a where a.organization_id = agent_versions.organization_id
        and a.test = agent_versions.test and a.id = agent_versions.agent_id) as "agentCreatedAt"
    from agent_versions ${whereVersions(tx, of)} and version = ${version}`
  if (!row) return null
  const tools = row.tools.map(({ shown, ...tool }) => ({ ...tool, ...shown }))
  const agentCreatedAtMs = row.agentCreatedAt.getTime()
  return { ...itemOf(row), ...ownerOf(of), agentId: of.agentId, agentCreatedAtMs, settings: row.settings, tools }
}

const ownerOf = ({ organizationId, test }: Tenant): Tenant => ({ organizationId, test })

function itemOf({ version, createdAt, changed, restoredFrom, byType, byId, byName, calls }: ItemRow): AgentVersionItem {
  const createdBy = byType === null || byId === null ? null : { type: byType, id: byId, name: byName }
  return { version, createdAtMs: createdAt.getTime(), createdBy, changed, restoredFrom, calls }
}

const itemColumns = (tx: Tx) => tx`
  version, created_at as "createdAt", changed, restored_from as "restoredFrom", created_by_type as "byType",
  created_by_id as "byId", created_by_name as "byName",
  (select count(*)::int from calls c
    where c.organization_id = agent_versions.organization_id and c.test = agent_versions.test
      and c.agent_id = agent_versions.agent_id and c.agent_version = agent_versions.version) as calls`
