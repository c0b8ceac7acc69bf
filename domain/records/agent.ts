/** An agent's stored settings. When a session starts, missing settings get their defaults. */
import type { OptimizeFor, Stage } from '../ports/model.ts'
import type { AgentWebhookInputs, AgentWebhooks, StoredWebhooks } from './agent-webhook-fields.ts'
import type { Author } from './author.ts'
import type { Tenant } from './organization.ts'
import type { ExtractionField } from './webhook-endpoint.ts'
import type { StoredEndpoint } from './webhook-endpoint-store.ts'

export type Agent = {
  id: string
  organizationId: string
  test: boolean
  settings: AgentSettings
  webhooks: AgentWebhooks
  /** The newest version, which rises with each change of a setting or a tool. */
  version: number
  createdAtMs: number
  updatedAtMs: number
}

type Required = { name: string; systemPrompt: string; intent: Intent }

type Intent = { language: string; optimizeFor?: OptimizeFor; region?: string }

/** Contains no nulls: an unset setting is absent. */
export type AgentSettings = Required & Partial<OptionalSettings>

/** Null clears a setting. An absent setting is not changed. */
export type AgentChange = Partial<Required> & { [Name in keyof OptionalSettings]?: OptionalSettings[Name] | null }

export type NewAgent = Required & AgentChange

/** The deprecated webhook fields beside the settings. Null removes them all. */
export type WithWebhooks = { webhooks?: AgentWebhookInputs | null }

/** Times without a unit in their name are milliseconds, as in the contract. */
type OptionalSettings = {
  voice: string
  firstMessage: string
  firstMessageMode: 'message' | 'generate' | 'listen'
  llmOptions: {
    temperature?: number
    maxTokens?: number
    model?: string
    reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'
  }
  stackPreferences: { allowedProviders?: Partial<Record<Stage, string[]>> }
  sttOptions: { keywords?: string[]; prompt?: string; language?: string }
  ttsOptions: { speed?: number; model?: string; instructions?: string; sampleRate?: 8000 | 16000 | 24000 | 48000 }
  backgroundAudio: { ambient?: BackgroundClip; toolSound?: BackgroundClip }
  speechNormalization: {
    pronunciationDictionary?: Record<string, string>
    textReplacements?: Record<string, string>
  }
  idleRePrompts: { enabled?: boolean; delayMs?: number; maxPrompts?: number; messages?: string[] }
  turnHandling: TurnHandling
  voicemail: { action?: 'hangup' | 'leave_message'; message?: string }
  maxDurationSeconds: number
  silenceTimeoutSeconds: number
  endCallMessage: string
  fallbackMessage: string
  maxToolHops: number
  timezone: string
  recording: boolean
  clientOverrides: ('prompt' | 'firstMessage' | 'language' | 'voiceId' | 'speed')[]
  promptVariables: { name: string; defaultValue?: string; description?: string }[]
  extractionFields: ExtractionField[]
  /** In a stored agent, `phoneNumberId` is the chosen rich-message number. */
  rmsg: { enabled?: boolean; mode?: 'dedicated' | 'shared'; phoneNumberId?: string | null }
}

export type BackgroundClip = {
  clip: 'office-ambience' | 'city-ambience' | 'crowded-room' | 'keyboard-typing'
  volume?: number
}

export type TurnHandling = {
  profile?: 'conversational' | 'ivr' | 'ivr_patient'
  endpointing?: { minDelay?: number; maxDelay?: number }
  turnDetection?: 'text' | 'vad' | 'stt'
  interruption?: {
    mode?: 'adaptive' | 'vad' | 'none'
    minDuration?: number
    minWords?: number
    falseTimeout?: number
    protectFirstMessage?: boolean
  }
  preemptiveGeneration?: boolean
}

/** Every method reads and writes one tenant's rows. A malformed id is treated as unknown. */
export interface AgentStore {
  /** Lists the agents, newest first. */
  list(tenant: Tenant): Promise<Agent[]>
  find(tenant: Tenant, id: string): Promise<Agent | null>
  /**
   * Inserts an agent unless the tenant has `agentsMax` agents. The limit applies even with simultaneous inserts.
   * `webhooks` are the endpoints for the agent's deprecated fields.
   */
  insert(
    agent: Omit<Agent, 'webhooks' | 'version'>,
    webhooks: readonly StoredEndpoint[],
    agentsMax: number,
    by: Author,
  ): Promise<'inserted' | 'name_taken' | 'limit_reached' | WebhookConflict | RmsgRefusal>
  /**
   * Reads the agent, calls `change` and writes the result, while the agent's row is locked. Resolves with null if there
   * is no such agent. If `change` throws, the agent is not changed. A change of a setting makes a version.
   */
  change(
    tenant: Tenant,
    id: string,
    change: (agent: Agent, webhooks: StoredWebhooks) => ChangedAgent,
    by: Author,
  ): Promise<Agent | 'name_taken' | WebhookConflict | RmsgRefusal | null>
  /**
   * Removes the agent with its tools. If phone numbers or unfinished callbacks refer to the agent, it is not removed.
   */
  remove(tenant: Tenant, id: string): Promise<AgentRemoval>
}

/**
 * The changed agent. Unless `webhooks` is `kept`, it replaces all deprecated webhook fields. If `choosesNumber`, a
 * rich-message number is chosen again from the agent's settings.
 */
export type ChangedAgent = {
  agent: Omit<Agent, 'webhooks'>
  webhooks: readonly StoredEndpoint[] | 'kept'
  choosesNumber: boolean
}

/** The change was refused. `unknown`: the organization does not have the requested rich-message number. */
export type RmsgRefusal = { rmsgNumber: 'unknown' | 'unavailable' }

/**
 * A conflict: this endpoint and the URL in a deprecated webhook field of the agent would both receive the pre-call
 * request for the same call.
 */
export type WebhookConflict = { conflictsWith: string }

/** `in_use` lists some of the numbers and callbacks that refer to the agent. */
export type AgentRemoval =
  | { state: 'removed' | 'unknown' }
  | { state: 'in_use'; phoneNumberIds: readonly string[]; callbackIds: readonly string[] }
