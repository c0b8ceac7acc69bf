/** The versions of an agent: its settings and tools after each change. Secrets are in no version. */
import type { Agent, AgentSettings, RmsgRefusal } from './agent.ts'
import type { Author } from './author.ts'
import type { Tenant } from './organization.ts'
import type { Tool } from './tool.ts'

/** A tool as it is stored in a version. */
export type VersionTool = Omit<Tool, 'organizationId' | 'test' | 'agentId'>

export type VersionAuthor = Author & { name: string | null }

export type AgentVersionItem = {
  version: number
  createdAtMs: number
  /** Null for the state from before the server kept versions. */
  createdBy: VersionAuthor | null
  /** The changed settings' names, and `tools.<name>` for each changed tool. */
  changed: readonly string[]
  restoredFrom: number | null
  /** Counts the stored calls that started with the version. */
  calls: number
}

export type AgentVersion = AgentVersionItem & {
  agentId: string
  organizationId: string
  test: boolean
  /** The time when the agent itself was created. */
  agentCreatedAtMs: number
  settings: AgentSettings
  /** Newest first. */
  tools: readonly VersionTool[]
}

/** Every method reads and writes one tenant's rows. A malformed id is treated as unknown. */
export interface AgentVersionStore {
  /**
   * Lists versions, newest first. If `before` is set, lists only versions below this version. Resolves with null if
   * there is no such agent.
   */
  list(tenant: Tenant, agentId: string, limit: number, before: number | null): Promise<AgentVersionItem[] | null>
  find(tenant: Tenant, agentId: string, version: number): Promise<AgentVersion | null>
  /**
   * Gives the agent the settings and tools of `version`, and records that as a new version. Resolves with null if there
   * is no such agent.
   */
  restore(
    tenant: Tenant,
    version: AgentVersion,
    by: Author,
    restoredTool: RestoreTool,
  ): Promise<Agent | 'name_taken' | RmsgRefusal | null>
}

/** Makes the tool to store from the tool of a version. `current` is the tool that the agent has now under its id. */
export type RestoreTool = (ofVersion: VersionTool, current: Tool | null) => RestoredTool

/** `kept`: the tool keeps its present secrets. */
export type RestoredTool = { tool: VersionTool; secrets: 'kept' | 'none' }
