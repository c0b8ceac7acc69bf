/** A function for an agent's LLM to call, as stored. Its secrets are stored separately and sealed. */
import type { Tenant } from './organization.ts'
import type { TransferConfig } from './transfer-request.ts'

export type Tool = {
  id: string
  organizationId: string
  test: boolean
  agentId: string
  name: string
  description: string
  /** A JSON Schema for the arguments. Null if the tool has no arguments. */
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
  /** True if the tool's secret signs its requests, false if the organization's secret does. */
  hasSecret: boolean
  headers: Record<string, string> | null
  /** The names of secret headers, in the client's spelling. */
  authHeaders: string[] | null
  timeoutMs: number | null
  responseMode: 'sync' | 'async' | null
  asyncAck: string | null
}

export type BuiltinName = 'end_call' | 'send_dtmf' | 'schedule_callback' | 'transfer_call'
export type BuiltinConfig = { enabled?: boolean; maxDaysAhead?: number; phoneNumberId?: string } & TransferConfig
export type BuiltinSource = { kind: 'builtin'; name: BuiltinName; config: BuiltinConfig | null }
type InlineSource = { kind: 'inline'; timeoutMs: number | null }

/** `authHeaders` maps lower-case names to values. */
export type ToolSecrets = { secret: string | null; authHeaders: Record<string, string> }

export const noSecrets: ToolSecrets = { secret: null, authHeaders: {} }

/** A source as clients send it. If a secret or a value is left out, the stored value stays. */
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
/** A tool's name cannot change. */
export type ToolChange = Partial<Omit<NewTool, 'name'>>

export type StoredTool = { tool: Tool; secrets: ToolSecrets }

/** Every method reads and writes one tenant's rows. An id in another form counts as unknown. */
export interface ToolStore {
  /** Newest first. Null if there is no such agent. */
  list(tenant: Tenant, agentId: string): Promise<Tool[] | null>
  /** The agent's tools with their secrets for a starting session, oldest first. */
  listWithSecrets(tenant: Tenant, agentId: string): Promise<StoredTool[]>
  find(tenant: Tenant, agentId: string, id: string): Promise<Tool | null>
  /** Allows at most `toolsMax` tools per agent, even with simultaneous inserts. */
  insert(stored: StoredTool, toolsMax: number): Promise<'inserted' | 'no_agent' | 'name_taken' | 'limit_reached'>
  /**
   * The tool is locked between its reading and its writing. `secrets` unseals the secrets. Null if there is no such
   * tool.
   */
  change(
    tenant: Tenant,
    agentId: string,
    id: string,
    change: (tool: Tool, secrets: () => ToolSecrets) => { tool: Tool; secrets: ToolSecrets | 'kept' },
  ): Promise<Tool | null>
  remove(tenant: Tenant, agentId: string, id: string): Promise<boolean>
}
