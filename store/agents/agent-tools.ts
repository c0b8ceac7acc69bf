/** Agents' tools. Every statement reads or writes one organization's live or test rows. Secrets are sealed. */
import { isToolChanged } from '../../domain/agents/changed.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Author } from '../../domain/records/author.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { noSecrets, type StoredTool, type Tool, type ToolSecrets, type ToolStore } from '../../domain/records/tool.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Worlds } from '../postgres/tenant.ts'
import type { SealedTable } from '../sealing/reseal.ts'
import type { Sealed, Sealer } from '../sealing/sealed.ts'
import { isAgentId } from './agents.ts'
import { addVersion, keepPresent, type VersionOf } from './version-rows.ts'

/** These fields are only shown. No statement searches by them, so they share one JSON column. */
export type Shown = Pick<Tool, 'description' | 'parameters' | 'source' | 'preToolSpeech'>
type Row = Pick<Tool, 'id' | 'organizationId' | 'test' | 'agentId' | 'name'> & {
  shown: Shown
  createdAt: Date
  updatedAt: Date
}
type SecretColumns = { secretsId: string; bytes: Buffer; sealedBy: string }
type Secrets = SecretColumns | { [Name in keyof SecretColumns]: null }

/** The form of a tool's id. If a text has another form, it names no tool, so no statement searches for it. */
const idForm = /^tool_[0-9A-Za-z]{22}$/

export function createToolStore(worlds: Worlds, sealer: () => Sealer, clock: Clock): ToolStore {
  return {
    list: async (tenant, agentId) => {
      if (!isAgentId(agentId)) return null
      return worlds.asTenant(tenant, async (tx) => {
        if (!(await hasAgent(tx, tenant, agentId))) return null
        return readTools(tx, tenant, agentId)
      })
    },
    listWithSecrets: async (tenant, agentId) => {
      if (!isAgentId(agentId)) return []
      return worlds.asTenant(tenant, async (tx) => {
        const rows = await tx<(Row & Secrets)[]>`
          select ${columns(tx)}, ${secretColumns(tx)} from agent_tools ${ofAgent(tx, tenant, agentId)} order by position`
        return rows.map(({ secretsId, bytes, sealedBy, ...row }) => ({
          tool: toolOf(row),
          secrets: openedOf(sealer, row, { secretsId, bytes, sealedBy } as Secrets),
        }))
      })
    },
    find: async (tenant, agentId, id) => {
      if (!areIds(agentId, id)) return null
      return worlds.asTenant(tenant, async (tx) => {
        const [row] = await tx<Row[]>`
          select ${columns(tx)} from agent_tools ${ofAgent(tx, tenant, agentId)} and id = ${id}`
        return row ? toolOf(row) : null
      })
    },
    insert: async (stored, toolsMax, by) => {
      const { tool } = stored
      if (!isAgentId(tool.agentId)) return 'no_agent'
      return worlds.asTenant(tool, (tx) =>
        versioned(tx, tool, { by, nowMs: clock.nowMs() }, async () => {
          const outcome = await insert(tx, stored, toolsMax, sealer)
          return { outcome, changed: outcome === 'inserted' ? tool.name : null }
        }),
      )
    },
    change: async (tenant, agentId, id, change, by) => {
      if (!areIds(agentId, id)) return null
      return worlds.asTenant(tenant, (tx) =>
        versioned(tx, { ...tenant, agentId }, { by, nowMs: clock.nowMs() }, async () => {
          const [row] = await tx<(Row & Secrets)[]>`
            select ${columns(tx)}, ${secretColumns(tx)}
            from agent_tools ${ofAgent(tx, tenant, agentId)} and id = ${id} for update`
          if (!row) return { outcome: null, changed: null }
          const { secretsId, bytes, sealedBy, ...shown } = row
          const stored = { secretsId, bytes, sealedBy } as Secrets
          const present = toolOf(shown)
          const { tool, secrets } = change(present, () => openedOf(sealer, shown, stored))
          await update(tx, tool, secrets === 'kept' ? stored : seal(sealer, tool, secrets))
          return { outcome: tool, changed: isToolChanged(present, tool) ? tool.name : null }
        }),
      )
    },
    remove: async (tenant, agentId, id, by) => {
      if (!areIds(agentId, id)) return false
      return worlds.asTenant(tenant, (tx) =>
        versioned(tx, { ...tenant, agentId }, { by, nowMs: clock.nowMs() }, async () => {
          const name = await deleteTool(tx, tenant, agentId, id)
          return { outcome: name !== null, changed: name }
        }),
      )
    },
  }
}

type Change<Outcome> = { outcome: Outcome; changed: string | null }

/**
 * Changes the agent's tools and adds a version. `changed` is the changed tool's name, or null if no version is added.
 * The lock on the agent serializes versions.
 */
async function versioned<Outcome>(
  tx: Tx,
  { organizationId, test, agentId }: VersionOf,
  { by, nowMs }: { by: Author; nowMs: number },
  run: () => Promise<Change<Outcome>>,
): Promise<Outcome> {
  const of = { organizationId, test, agentId }
  if (await hasAgent(tx, of, agentId, true)) await keepPresent(tx, of)
  const { outcome, changed } = await run()
  if (changed !== null) await addVersion(tx, of, { changed: [`tools.${changed}`], by, restoredFrom: null, nowMs })
  return outcome
}

export async function readTools(tx: Tx, tenant: Tenant, agentId: string): Promise<Tool[]> {
  const rows = await tx<Row[]>`
    select ${columns(tx)} from agent_tools ${ofAgent(tx, tenant, agentId)} order by position desc`
  return rows.map(toolOf)
}

/** Inserts a tool without secrets. */
export async function insertTool(tx: Tx, tool: Tool): Promise<void> {
  await insertRow(tx, tool, { secretsId: null, bytes: null, sealedBy: null })
}

/** Writes a tool, and removes its secrets unless they are kept. */
export async function replaceTool(tx: Tx, tool: Tool, secrets: 'kept' | 'none'): Promise<void> {
  await tx`
    update agent_tools set shown = ${shownText(tool)}::text::json, updated_at = ${new Date(tool.updatedAtMs)}
      ${secrets === 'none' ? tx`, secrets_id = null, sealed = null, sealed_by = null` : tx``}
    ${ofAgent(tx, tool, tool.agentId)} and id = ${tool.id}`
}

/** Returns the deleted tool's name, or null if there is no such tool. */
export async function deleteTool(tx: Tx, tenant: Tenant, agentId: string, id: string): Promise<string | null> {
  const [row] = await tx<{ name: string }[]>`
    delete from agent_tools ${ofAgent(tx, tenant, agentId)} and id = ${id} returning name`
  return row?.name ?? null
}

function areIds(agentId: string, id: string): boolean {
  return isAgentId(agentId) && idForm.test(id)
}

/** Inserts a tool unless the agent has `toolsMax` already. The lock on the agent serializes inserts (`versioned`). */
async function insert(tx: Tx, stored: StoredTool, toolsMax: number, sealer: () => Sealer) {
  const { tool, secrets } = stored
  const { agentId } = tool
  if (!(await hasAgent(tx, tool, agentId))) return 'no_agent'
  const [row] = await tx<
    { count: number }[]
  >`select count(*)::int as count from agent_tools ${ofAgent(tx, tool, agentId)}`
  if ((row?.count ?? 0) >= toolsMax) return 'limit_reached'
  return (await insertRow(tx, tool, seal(sealer, tool, secrets))) ? 'inserted' : 'name_taken'
}

/** Returns false if another tool has the name. */
async function insertRow(tx: Tx, tool: Tool, { secretsId, bytes, sealedBy }: Secrets): Promise<boolean> {
  const { organizationId, test, agentId, id, name } = tool
  const { count } = await tx`
    insert into agent_tools
      (organization_id, test, agent_id, id, name, shown, secrets_id, sealed, sealed_by, created_at, updated_at)
    values (${organizationId}, ${test}, ${agentId}, ${id}, ${name}, ${shownText(tool)}::text::json, ${secretsId}, ${bytes},
      ${sealedBy}, ${new Date(tool.createdAtMs)}, ${new Date(tool.updatedAtMs)})
    on conflict (organization_id, test, agent_id, name) do nothing`
  return count > 0
}

async function update(tx: Tx, tool: Tool, { secretsId, bytes, sealedBy }: Secrets): Promise<void> {
  await tx`
    update agent_tools set shown = ${shownText(tool)}::text::json, secrets_id = ${secretsId}, sealed = ${bytes},
      sealed_by = ${sealedBy}, updated_at = ${new Date(tool.updatedAtMs)}
    ${ofAgent(tx, tool, tool.agentId)} and id = ${tool.id}`
}

export async function hasAgent(
  tx: Tx,
  { organizationId, test }: Tenant,
  agentId: string,
  locks = false,
): Promise<boolean> {
  const { count } = await tx`
    select from agents where organization_id = ${organizationId} and test = ${test} and id = ${agentId}
    ${locks ? tx`for no key update` : tx``}`
  return count > 0
}

const ofAgent = (tx: Tx, { organizationId, test }: Tenant, agentId: string) =>
  tx`where organization_id = ${organizationId} and test = ${test} and agent_id = ${agentId}`

const columns = (tx: Tx) => tx`
  organization_id as "organizationId", test, agent_id as "agentId", id, name, shown, created_at as "createdAt",
  updated_at as "updatedAt"`

function toolOf({ shown, createdAt, updatedAt, ...tool }: Row): Tool {
  return { ...tool, ...shown, createdAtMs: createdAt.getTime(), updatedAtMs: updatedAt.getTime() }
}

function shownText({ description, parameters, source, preToolSpeech }: Tool): string {
  const shown: Shown = { description, parameters, source, preToolSpeech }
  return JSON.stringify(shown)
}

function seal(sealer: () => Sealer, tool: Tool, secrets: ToolSecrets): Secrets {
  if (secrets.secret === null && Object.keys(secrets.authHeaders).length === 0)
    return { secretsId: null, bytes: null, sealedBy: null }
  const secretsId = `secret_${uniqueId()}`
  const place = placeOf({ ...tool, secretsId })
  return { secretsId, ...sealer().seal(JSON.stringify(secrets), place) }
}

function openedOf(sealer: () => Sealer, row: Row, { secretsId, bytes, sealedBy }: Secrets): ToolSecrets {
  if (bytes === null) return noSecrets
  return JSON.parse(sealer().open({ bytes, sealedBy }, placeOf({ ...row, secretsId }))) as ToolSecrets
}

const secretColumns = (tx: Tx) => tx`secrets_id as "secretsId", sealed as bytes, sealed_by as "sealedBy"`

/**
 * Names the row to which sealed secrets are bound. Their id serves as a version: if older secrets are put back into the
 * row, they cannot be decrypted.
 */
function placeOf(row: Pick<Row, 'organizationId' | 'agentId' | 'id'> & { secretsId: string | null }): string[] {
  return ['tool', row.organizationId, row.agentId, row.id, row.secretsId ?? '']
}

type SealedRow = Sealed & { organizationId: string; test: boolean; agentId: string; id: string; secretsId: string }

/** Lets reseal.ts seal the tools' secrets again after a change of the master key. */
export const sealedTools: SealedTable<SealedRow> = {
  table: 'agent_tools',
  start: { organizationId: '', test: false, agentId: '', id: '', secretsId: '', bytes: Buffer.alloc(0), sealedBy: '' },
  placeOf,
  read: (tx, after, names, rowsMax) => tx<SealedRow[]>`
    select organization_id as "organizationId", test, agent_id as "agentId", id, secrets_id as "secretsId", sealed as bytes,
      sealed_by as "sealedBy"
    from agent_tools
    where (organization_id, test, agent_id, id) > (${after.organizationId}, ${after.test}, ${after.agentId}, ${after.id})
      and sealed_by = any(${names}::text[])
    order by organization_id, test, agent_id, id limit ${rowsMax} for update skip locked`,
  write: (tx, { organizationId, test, agentId, id }, { bytes, sealedBy }) => tx`
    update agent_tools set sealed = ${bytes}, sealed_by = ${sealedBy}
    where organization_id = ${organizationId} and test = ${test} and agent_id = ${agentId} and id = ${id}`,
}
