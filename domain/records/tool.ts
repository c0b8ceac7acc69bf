/** A function for an agent's LLM to call, as stored. Its secrets are stored separately, encrypted. */
import type { Author } from './author.ts'
import type { Tenant } from './organization.ts'
import type { TransferConfig } from './transfer-request.ts'

export type Tool = {
  id: string
  organizationId: string
  test: boolean
  agentId: string
  name: string
  description: string
  /** The JSON Schema of the arguments. Null if the tool has no arguments. */
  parameters: Record<string, unknown> | null
  source: ToolSource
  preToolSpeech: PreToolSpeech | null
  createdAtMs: number
  updatedAtMs: number
}

export type PreToolSpeech = 'auto' | 'always' | 'never'

export type ToolSource = WebhookSource | BuiltinSource | InlineSource

export type WebhookSource = {
  kind: 'webhook'
  url: string
  /** True if the tool has a secret to sign its requests. If false, the organization's secret signs them. */
  hasSecret: boolean
  headers: Record<string, string> | null
  /** Names of headers with secret values, in the client's spelling. */
  authHeaders: string[] | null
  timeoutMs: number | null
  responseMode: 'sync' | 'async' | null
  asyncAck: string | null
}

export type BuiltinName = 'end_call' | 'send_dtmf' | 'schedule_callback' | 'transfer_call'
export type BuiltinConfig = { enabled?: boolean; maxDaysAhead?: number; phoneNumberId?: string } & TransferConfig
export type BuiltinSource = { kind: 'builtin'; name: BuiltinName; config: BuiltinConfig | null }
type InlineSource = { kind: 'inline'; timeoutMs: number | null }

/** The keys of `authHeaders` are header names in lower case. */
export type ToolSecrets = { secret: string | null; authHeaders: Record<string, string> }

export const noSecrets: ToolSecrets = { secret: null, authHeaders: {} }

/** A source as clients send it. If a secret or a value is absent, the stored value is kept. */
export type ToolSourceInput =
  | {
      kind: 'webhook'
      url: string
      secret?: string | null
      headers?: Record<string, string> | null
      authHeaders?: { name: string; value?: string }[] | null
      timeoutMs?: number | null
      responseMode?: 'sync' | 'async' | null
      asyncAck?: string | null
    }
  | { kind: 'builtin'; name: BuiltinName; config?: BuiltinConfig | null }
  | { kind: 'inline'; timeoutMs?: number | null }

export type NewTool = {
  name: string
  description: string
  parameters?: Record<string, unknown> | null
  source: ToolSourceInput
  preToolSpeech?: PreToolSpeech | null
}
/** A change contains no name, because a tool's name cannot change. */
export type ToolChange = Partial<Omit<NewTool, 'name'>>

export type StoredTool = { tool: Tool; secrets: ToolSecrets }

/**
 * Every method reads and writes one tenant's rows. A malformed id is treated as unknown. Each change adds a version to
 * the agent.
 */
export interface ToolStore {
  /** Lists the tools, newest first. Resolves with null if there is no such agent. */
  list(tenant: Tenant, agentId: string): Promise<Tool[] | null>
  /** Lists the agent's tools with their secrets for a starting session, oldest first. */
  listWithSecrets(tenant: Tenant, agentId: string): Promise<StoredTool[]>
  find(tenant: Tenant, agentId: string, id: string): Promise<Tool | null>
  /** Inserts a tool unless its agent has `toolsMax` tools. The limit applies even with simultaneous inserts. */
  insert(
    stored: StoredTool,
    toolsMax: number,
    by: Author,
  ): Promise<'inserted' | 'no_agent' | 'name_taken' | 'limit_reached'>
  /**
   * Reads the tool, calls `change` and writes the result, while the tool's row is locked. `secrets` decrypts the
   * secrets. Resolves with null if there is no such tool.
   */
  change(
    tenant: Tenant,
    agentId: string,
    id: string,
    change: (tool: Tool, secrets: () => ToolSecrets) => { tool: Tool; secrets: ToolSecrets | 'kept' },
    by: Author,
  ): Promise<Tool | null>
  remove(tenant: Tenant, agentId: string, id: string, by: Author): Promise<boolean>
}
