/** The operations on agents' versions. */
import type { ActorNames } from '../../domain/access/api-keys.ts'
import type { AgentVersions } from '../../domain/agents/agent-versions.ts'
import type { AgentVersion, AgentVersionItem } from '../../domain/records/agent-version.ts'
import { authorOf } from '../../domain/records/author.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { wireTool } from './agent-tools.ts'
import { wireAgent } from './agents.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'
import { timeOf } from './times.ts'

type Operations = Pick<PlatformHandlers<Caller>, 'listAgentVersions' | 'getAgentVersion' | 'restoreAgentVersion'>

/** A cursor contains the last entry's version number, and the agent's id. */
const shape: CursorShape = { digitsMax: 13, id: /^agent_[0-9A-Za-z]{22}$/ }
/** The largest value of a Postgres `integer`, the type of the column `version`. */
const versionMax = 2_147_483_647

export function agentVersionOperations(versions: AgentVersions, actorNames: ActorNames): Operations {
  /** A version has its key's name at that time. A person's name is looked up. */
  const namesFor = ({ organization }: Caller, items: readonly AgentVersionItem[]) =>
    actorNames.read(
      organization.id,
      items.map(({ createdBy }) => createdBy),
      'name',
    )
  return {
    async listAgentVersions({ path, query }, { caller }) {
      const before = query.cursor === undefined ? null : Math.min(readCursor(query.cursor, shape).at, versionMax)
      const page = await versions.list(tenantOf(caller), path.id, { limit: query.limit, before })
      const nextCursor = page.next === null ? null : cursorOf({ at: page.next, id: path.id })
      const nameOf = await namesFor(caller, page.versions)
      return { status: 200, body: { versions: page.versions.map((item) => wireItem(item, nameOf)), nextCursor } }
    },
    async getAgentVersion({ path }, { caller }) {
      const version = await versions.get(tenantOf(caller), path.id, numberOf(path.version))
      return { status: 200, body: wireVersion(version, await namesFor(caller, [version])) }
    },
    async restoreAgentVersion({ path }, { caller }) {
      const number = numberOf(path.version)
      return {
        status: 200,
        body: wireAgent(await versions.restore(tenantOf(caller), path.id, number, authorOf(caller))),
      }
    },
  }
}

function numberOf(version: string): number {
  const number = /^[1-9][0-9]{0,9}$/.test(version) ? Number(version) : 0
  if (number === 0 || number > versionMax) throw new ResourceFault({ kind: 'not_found' })
  return number
}

type NameOf = Awaited<ReturnType<ActorNames['read']>>

function wireItem(item: AgentVersionItem, nameOf: NameOf) {
  const { version, createdAtMs, createdBy: author, changed, restoredFrom, calls } = item
  const createdBy = author && { ...author, name: author.name ?? nameOf(author) }
  return { version, createdAt: timeOf(createdAtMs), createdBy, changed: [...changed], restoredFrom, calls }
}

function wireVersion(version: AgentVersion, nameOf: NameOf): Wire.AgentVersion {
  const { agentId, organizationId, test, settings } = version
  const agent = {
    id: agentId,
    organizationId,
    test,
    settings,
    webhooks: {},
    version: version.version,
    createdAtMs: version.agentCreatedAtMs,
    updatedAtMs: version.createdAtMs,
  }
  const tools = version.tools.map((tool) => wireTool({ ...tool, organizationId, test, agentId }))
  return { ...wireItem(version, nameOf), agent: wireAgent(agent), tools }
}
