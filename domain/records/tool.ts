/** A function that the LLM of an agent may call, as it is stored. Its secrets are stored apart and sealed. */
import type { Tenant } from './organization.ts'
import type { TransferConfig } from './transfer-request.ts'

export type Tool = {
  id: string
  organizationId: string
  test: boolean
  agentId: string
  name: string
  description: string
  /** A JSON Schema of the arguments. Null: it has none. */
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
  /** Whether requests are signed with a secret of the tool; else with that of the organization. */
  hasSecret: boolean
  headers: Record<string, string> | null
  /** The names of headers whose values are secret, as they were sent. */
  authHeaders: string[] | null
  timeoutMs: number | null
  responseMode: 'sync' | 'async' | null
  asyncAck: string | null
}

export type BuiltinName = 'end_call' | 'send_dtmf' | 'schedule_callback' | 'transfer_call'
export type BuiltinConfig = { enabled?: boolean; maxDaysAhead?: number; phoneNumberId?: string } & TransferConfig
export type BuiltinSource = { kind: 'builtin'; name: BuiltinName; config: BuiltinConfig | null }
type InlineSource = { kind: 'inline'; timeoutMs: number | null }

/** `authHeaders` has the values by their names in lower case. */
export type ToolSecrets = { secret: string | null; authHeaders: Record<string, string> }

export const noSecrets: ToolSecrets = { secret: null, authHeaders: {} }

/** A source as it is sent. A secret or a value that is left out means the one that is stored. */
export type WantedSource =
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
  source: WantedSource
  preToolSpeech?: PreToolSpeech | null
}
/** The name is fixed. */
export type ToolChange = Partial<Omit<NewTool, 'name'>>

export type StoredTool = { tool: Tool; secrets: ToolSecrets }

/** Every call reads and writes rows of this tenant alone. An id of another form is an unknown one. */
export interface ToolStore {
  /** Newest first. Null: there is no such agent. */
  list(tenant: Tenant, agentId: string): Promise<Tool[] | null>
  /** With their secrets, for a session that starts. Oldest first. */
  listWithSecrets(tenant: Tenant, agentId: string): Promise<StoredTool[]>
  find(tenant: Tenant, agentId: string, id: string): Promise<Tool | null>
  /** Gives an agent at most `toolsMax` tools, also when several are inserted at once. */
  insert(stored: StoredTool, toolsMax: number): Promise<'inserted' | 'no_agent' | 'name_taken' | 'limit_reached'>
  /** Nobody else changes the tool between its reading and its writing. `secrets` opens what is sealed. Null: there is no such tool. */
  change(
    tenant: Tenant,
    agentId: string,
    id: string,
    change: (tool: Tool, secrets: () => ToolSecrets) => { tool: Tool; secrets: ToolSecrets | 'kept' },
  ): Promise<Tool | null>
  remove(tenant: Tenant, agentId: string, id: string): Promise<boolean>
}
