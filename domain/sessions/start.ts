/** A session's start: the request, and the data with which its browser joins. */
import type { AgentChange, NewAgent } from '../records/agent.ts'
import type { Caller } from '../records/organization.ts'
import type { BrowserTransport } from '../records/pipeline.ts'
import type { NewTool } from '../records/tool.ts'

/** Settings that have the same name in an agent and in a request. */
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

/** Null selects the default, even if the agent has another value. If a field is absent, the agent's value applies. */
export type SessionRequest = SharedSettings & {
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
  /** Opens this session's media channel. Only this response contains the token. */
  token: string
  url: string
  roomName: string
  identity: string
  expiresAtMs: number
}

export interface StartSession {
  /**
   * Starts a session. `publicUrl` is this server's URL as the client sees it, without a slash at its end. Throws Fault
   * and ResourceFault.
   */
  start(caller: Caller, request: SessionRequest, publicUrl: string): Promise<StartedSession>
}
