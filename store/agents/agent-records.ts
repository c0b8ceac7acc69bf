/** Makes the store's repositories for agents and their tools. */
import type { Clock } from '../../domain/ports/system.ts'
import type { AgentStore } from '../../domain/records/agent.ts'
import type { ToolStore } from '../../domain/records/tool.ts'
import type { Worlds } from '../postgres/tenant.ts'
import type { Sealer } from '../sealing/sealed.ts'
import { createToolStore } from './agent-tools.ts'
import { createAgentStore } from './agents.ts'

export type AgentRecords = { agents: AgentStore; tools: ToolStore }

export function createAgentRecords(each: Worlds, sealer: () => Sealer, clock: Clock): AgentRecords {
  return { agents: createAgentStore(each, sealer, clock), tools: createToolStore(each, sealer) }
}
