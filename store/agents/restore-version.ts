/** Restores an agent's settings and tools from a version. */
import { changedSettings, isToolChanged } from '../../domain/agents/changed.ts'
import type { Agent, RmsgRefusal } from '../../domain/records/agent.ts'
import type { AgentVersion, RestoreTool, VersionTool } from '../../domain/records/agent-version.ts'
import type { Author } from '../../domain/records/author.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tool } from '../../domain/records/tool.ts'
import { withoutNumber } from '../numbers/rmsg-agents.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { deleteTool, insertTool, readTools, replaceTool } from './agent-tools.ts'
import { applyChange } from './agents.ts'
import { addVersion, keepPresent } from './version-rows.ts'

type Restoring = { by: Author; nowMs: number; restoredTool: RestoreTool }

export async function restoreVersion(
  tx: Tx,
  sealer: () => Sealer,
  tenant: Tenant,
  version: AgentVersion,
  { by, nowMs, restoredTool }: Restoring,
): Promise<Agent | RmsgRefusal | null> {
  const { agentId } = version
  const of = { ...tenant, agentId }
  const changed: string[] = []
  const outcome = await applyChange(tx, sealer, tenant, agentId, async (agent) => {
    await keepPresent(tx, of)
    changed.push(...changedSettings(withoutNumber(agent.settings), version.settings))
    const choosesNumber = changed.includes('rmsg')
    // If `rmsg` is unchanged, the agent keeps its number.
    const { rmsg } = choosesNumber ? version.settings : agent.settings
    const settings = { ...version.settings, ...(rmsg !== undefined && { rmsg }) }
    return { agent: { ...agent, settings, updatedAtMs: nowMs }, webhooks: 'kept', choosesNumber }
  })
  if (outcome === null || 'rmsgNumber' in outcome) return outcome
  // The webhook endpoints were not changed, so a conflict is impossible.
  if ('conflictsWith' in outcome) throw new Error('a restored version has changed webhook endpoints')
  changed.push(...(await restoreTools(tx, version, restoredTool, nowMs)))
  if (changed.length === 0) return outcome
  const number = await addVersion(tx, of, { changed, by, restoredFrom: version.version, nowMs })
  return { ...outcome, version: number }
}

/** Returns the changed tools' names in a version's form, `tools.<name>`. */
async function restoreTools(
  tx: Tx,
  version: AgentVersion,
  restoredTool: RestoreTool,
  nowMs: number,
): Promise<string[]> {
  const { organizationId, test, agentId } = version
  const owner = { organizationId, test, agentId }
  const present = new Map((await readTools(tx, version, agentId)).map((tool) => [tool.id, tool]))
  const wanted = new Set(version.tools.map(({ id }) => id))
  // This is a set, because a deleted tool and a restored tool may have the same name.
  const changed = new Set<string>()
  // Tools are deleted first, because a tool to restore may have a deleted tool's name.
  for (const { id, name } of present.values()) {
    if (wanted.has(id)) continue
    await deleteTool(tx, version, agentId, id)
    changed.add(`tools.${name}`)
  }
  // A version lists the newest tool first, so this loop runs backwards to insert the oldest tool first.
  for (const ofVersion of [...version.tools].reverse())
    if (await restoreTool(tx, owner, { ofVersion, current: present.get(ofVersion.id) ?? null, restoredTool, nowMs }))
      changed.add(`tools.${ofVersion.name}`)
  return [...changed]
}

type ToolRestoring = { ofVersion: VersionTool; current: Tool | null; restoredTool: RestoreTool; nowMs: number }

/** Returns true if the tool was changed. */
async function restoreTool(
  tx: Tx,
  owner: Tenant & { agentId: string },
  { ofVersion, current, restoredTool, nowMs }: ToolRestoring,
): Promise<boolean> {
  const { tool, secrets } = restoredTool(ofVersion, current)
  const restored = { ...owner, ...tool, updatedAtMs: nowMs }
  if (current === null) await insertTool(tx, restored)
  else if (isToolChanged(current, tool)) await replaceTool(tx, restored, secrets)
  else return false
  return true
}
