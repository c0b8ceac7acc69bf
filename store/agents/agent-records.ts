/** Makes the store's repositories for agents and their tools. */
import type { Clock } from '../../domain/ports/system.ts'
import type { AgentStore } from '../../domain/records/agent.ts'
import type { AgentVersionStore } from '../../domain/records/agent-version.ts'
import type { ToolStore } from '../../domain/records/tool.ts'
import type { Worlds } from '../postgres/tenant.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { createToolStore } from './agent-tools.ts'
import { createAgentVersionStore } from './agent-versions.ts'
import { createAgentStore } from './agents.ts'

export type AgentRecords = { agents: AgentStore; tools: ToolStore; agentVersions: AgentVersionStore }

export function createAgentRecords(each: Worlds, sealer: () => Sealer, clock: Clock): AgentRecords {
  return {
    agents: createAgentStore(each, sealer, clock),
    tools: createToolStore(each, sealer, clock),
    agentVersions: createAgentVersionStore(each, sealer, clock),
  }
}
