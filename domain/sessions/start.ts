/** How a session begins: what a request wants, and what its browser needs to join. */
import type { AgentChange, NewAgent } from '../records/agent.ts'
import type { Caller } from '../records/organization.ts'
import type { BrowserTransport } from '../records/pipeline.ts'
import type { NewTool } from '../records/tool.ts'

/** The settings that an agent and a request both have, by the same names. */
type SharedSettings = Pick<
  AgentChange,
  | 'voice'
  | 'firstMessage'
  | 'firstMessageMode'
  | 'sttOptions'
  | 'ttsOptions'
  | 'backgroundAudio'
  | 'speechNormalization'
  | 'idleRePrompts'
  | 'turnHandling'
  | 'maxDurationSeconds'
  | 'silenceTimeoutSeconds'
  | 'endCallMessage'
  | 'fallbackMessage'
  | 'maxToolHops'
  | 'timezone'
  | 'recording'
  | 'clientOverrides'
>

/** null is the default, also where the agent has another value. A field that is left out is the agent's. */
export type WantedSession = SharedSettings & {
  agentId?: string | null
  intent?: Partial<NewAgent['intent']>
  systemPrompt?: string | null
  llm?: AgentChange['llmOptions']
  constraints?: AgentChange['stackPreferences']
  tools?: readonly NewTool[] | null
  variables?: Record<string, string> | null
  metadata?: Record<string, unknown> | null
  webhookTags?: Record<string, string> | null
  identity?: string | null
  transport?: BrowserTransport | null
  ttlSeconds?: number | null
}

export type StartedSession = {
  id: string
  test: boolean
  transport: BrowserTransport
  /** It opens the media channel of this session, and is shown once. */
  token: string
  url: string
  roomName: string
  identity: string
  expiresAtMs: number
}

export interface StartSession {
  /** `publicUrl` is the address under which the client reaches this server, without a slash at its end. Throws Fault and ResourceFault. */
  start(caller: Caller, wanted: WantedSession, publicUrl: string): Promise<StartedSession>
}
