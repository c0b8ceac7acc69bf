import { parametersOf } from '../../domain/agents/join-tools.ts'
import type { Tools } from '../../domain/agents/tools.ts'
import { authorOf } from '../../domain/records/author.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { Tool, ToolSource } from '../../domain/records/tool.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { Tool as WireTool, ToolSource as WireToolSource } from '../../generated/platform/types.ts'
import { configuredHeader } from './auth-headers.ts'
import { timeOf } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export function createAgentTool(tools: Tools): Handlers['createAgentTool'] {
  return async ({ path, body }, { caller }) => ({
    status: 201,
    body: wireTool(await tools.create(tenantOf(caller), path.id, body, authorOf(caller))),
  })
}

export function listAgentTools(tools: Tools): Handlers['listAgentTools'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: (await tools.list(tenantOf(caller), path.id)).map(wireTool),
  })
}

export function getAgentTool(tools: Tools): Handlers['getAgentTool'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: wireTool(await tools.get(tenantOf(caller), path.id, path.toolId)),
  })
}

export function updateAgentTool(tools: Tools): Handlers['updateAgentTool'] {
  return async ({ path, body }, { caller }) => ({
    status: 200,
    body: wireTool(await tools.change(tenantOf(caller), path.id, path.toolId, body, authorOf(caller))),
  })
}

export function deleteAgentTool(tools: Tools): Handlers['deleteAgentTool'] {
  return async ({ path }, { caller }) => {
    await tools.remove(tenantOf(caller), path.id, path.toolId, authorOf(caller))
    return { status: 200, body: { deleted: true } }
  }
}

export function wireTool({
  id,
  agentId,
  test,
  name,
  description,
  parameters,
  source,
  preToolSpeech,
  ...times
}: Tool): WireTool {
  return {
    id,
    agentId,
    ...(test && { test: true }),
    name,
    description,
    // If no parameters were stored, shows the parameters that the LLM gets in a phone call, because a phone call
    // supports every built-in function.
    parameters: parameters ?? parametersOf(source, 'phone'),
    source: wireSource(source),
    preToolSpeech: preToolSpeech ?? 'auto',
    createdAt: timeOf(times.createdAtMs),
    updatedAt: timeOf(times.updatedAtMs),
  }
}

/** Shows a tool's source. It contains no secret, because secrets are stored separately. */
function wireSource(source: ToolSource): WireToolSource {
  if (source.kind !== 'webhook') return source
  return { ...source, authHeaders: source.authHeaders?.map(configuredHeader) ?? null }
}
