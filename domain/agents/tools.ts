import type { Clock } from '../ports/system.ts'
import type { Author } from '../records/author.ts'
import type { Tenant } from '../records/organization.ts'
import { type Issue, ResourceFault, refuseIssues, requireResource } from '../records/resource-fault.ts'
import type { NewTool, StoredTool, Tool, ToolChange, ToolSecrets, ToolStore } from '../records/tool.ts'
import type { TransferRules } from '../transfers/settings/read-transfer.ts'
import { type CompileSchema, parametersProblem } from './check-parameters.ts'
import { issuesOfSource, makeSource } from './tool-source.ts'

/** Limits the tools per agent. */
const toolsMax = 64

export type ToolRules = TransferRules & { compileSchema: CompileSchema }

export type ToolDeps = ToolRules & {
  store: ToolStore
  clock: Clock
  toolId: () => string
}

/** The operations on tools. An operation that refuses a request throws ResourceFault. */
export type Tools = {
  create(tenant: Tenant, agentId: string, input: NewTool, by: Author): Promise<Tool>
  list(tenant: Tenant, agentId: string): Promise<Tool[]>
  get(tenant: Tenant, agentId: string, id: string): Promise<Tool>
  change(tenant: Tenant, agentId: string, id: string, change: ToolChange, by: Author): Promise<Tool>
  remove(tenant: Tenant, agentId: string, id: string, by: Author): Promise<void>
}

export function createTools(deps: ToolDeps): Tools {
  const { store, clock } = deps
  /** Throws `not_found`. The fault names the agent if the agent's id is unknown. Otherwise it names the tool. */
  const missing = async (tenant: Tenant, agentId: string): Promise<never> => {
    requireResource(await store.list(tenant, agentId), 'agent')
    throw new ResourceFault({ kind: 'not_found', named: 'tool' })
  }
  return {
    async create(tenant, agentId, input, by) {
      const stored = makeTool(tenant, agentId, input, deps)
      const outcome = await store.insert(stored, toolsMax, by)
      if (outcome === 'no_agent') throw new ResourceFault({ kind: 'not_found', named: 'agent' })
      if (outcome === 'name_taken') throw new ResourceFault({ kind: 'name_taken', resource: 'tool' })
      if (outcome === 'limit_reached')
        throw new ResourceFault({ kind: 'limit_reached', resource: 'tool', limit: toolsMax })
      return stored.tool
    },
    list: async (tenant, agentId) => requireResource(await store.list(tenant, agentId), 'agent'),
    get: async (tenant, agentId, id) => (await store.find(tenant, agentId, id)) ?? missing(tenant, agentId),
    async change(tenant, agentId, id, change, by) {
      refuseIssues(issuesOfTool(change, deps))
      if (Object.keys(change).length === 0) return (await store.find(tenant, agentId, id)) ?? missing(tenant, agentId)
      const changedTool = (tool: Tool, secrets: () => ToolSecrets) => changeTool(tool, secrets, change, clock.nowMs())
      const changed = await store.change(tenant, agentId, id, changedTool, by)
      return changed ?? missing(tenant, agentId)
    },
    async remove(tenant, agentId, id, by) {
      if (!(await store.remove(tenant, agentId, id, by))) await missing(tenant, agentId)
    },
  }
}

/** Checks the tool in the request without regard to the stored tool. */
export function issuesOfTool({ parameters, source }: ToolChange, { compileSchema, ...rules }: ToolRules): Issue[] {
  const problem = parameters ? parametersProblem(parameters, compileSchema) : null
  return [
    ...(problem ? [{ path: ['parameters'], problem }] : []),
    ...(source === undefined ? [] : issuesOfSource(source, rules)),
  ]
}

function makeTool({ organizationId, test }: Tenant, agentId: string, input: NewTool, deps: ToolDeps): StoredTool {
  const { source, secrets, issues } = makeSource(input.source, null)
  refuseIssues([...issuesOfTool(input, deps), ...issues])
  const nowMs = deps.clock.nowMs()
  const { name, description, parameters = null, preToolSpeech = null } = input
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs }
  const owner = { id: deps.toolId(), organizationId, test, agentId }
  return { tool: { ...owner, name, description, parameters, source, preToolSpeech, ...times }, secrets }
}

function changeTool(tool: Tool, secrets: () => ToolSecrets, { source, ...change }: ToolChange, nowMs: number) {
  const changed = { ...tool, ...change, updatedAtMs: nowMs }
  if (source === undefined) return { tool: changed, secrets: 'kept' as const }
  const made = makeSource(source, { source: tool.source, secrets })
  refuseIssues(made.issues)
  return { tool: { ...changed, source: made.source }, secrets: made.secrets }
}
