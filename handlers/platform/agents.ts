import type { Agents } from '../../domain/agents/agents.ts'
import type { Agent } from '../../domain/records/agent.ts'
import type { AgentWebhooks } from '../../domain/records/agent-webhook-fields.ts'
import { authorOf } from '../../domain/records/author.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import { type Endpoint, timeoutMsOf } from '../../domain/records/webhook-endpoint.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { AgentWebhook, Agent as WireAgent, AgentWebhooks as WireWebhooks } from '../../generated/platform/types.ts'
import { requireRole } from '../authenticate.ts'
import { configuredHeader } from './auth-headers.ts'
import { timeOf } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export function createAgent(agents: Agents): Handlers['createAgent'] {
  return async ({ body }, { caller }) => {
    if (body.webhooks != null) requireWebhookRole(caller)
    const made = await agents.create(tenantOf(caller), withoutAudioOutput(body), authorOf(caller))
    return { status: 201, body: wireAgent(made) }
  }
}

export function listAgents(agents: Agents): Handlers['listAgents'] {
  return async (_request, { caller }) => ({ status: 200, body: (await agents.list(tenantOf(caller))).map(wireAgent) })
}

export function getAgent(agents: Agents): Handlers['getAgent'] {
  return async ({ path }, { caller }) => ({ status: 200, body: wireAgent(await agents.get(tenantOf(caller), path.id)) })
}

export function updateAgent(agents: Agents): Handlers['updateAgent'] {
  return async ({ path, header, body }, { caller }) => {
    if (body.webhooks !== undefined) requireWebhookRole(caller)
    const change = withoutAudioOutput(body)
    const expected = versionOf(header['if-match'])
    const changed = await agents.change(tenantOf(caller), path.id, change, authorOf(caller), expected)
    return { status: 200, body: wireAgent(changed) }
  }
}

export function deleteAgent(agents: Agents): Handlers['deleteAgent'] {
  return async ({ path }, { caller }) => {
    await agents.remove(tenantOf(caller), path.id)
    return { status: 200, body: { deleted: true } }
  }
}

/** Reads a version in quotes, such as `"3"`. */
const versionOf = (ifMatch: string | undefined) => (ifMatch === undefined ? null : Number(ifMatch.slice(1, -1)))

/** The deprecated field `webhooks` makes and removes endpoints, so a user needs the same role as for an endpoint. */
function requireWebhookRole({ role }: Caller): void {
  if (role !== undefined) requireRole(role, 'admin')
}

/** Removes `audioOutput`. Only null and a gain of 0 dB are accepted, so there is nothing to store. */
function withoutAudioOutput<Sent extends { audioOutput?: unknown }>(sent: Sent): Omit<Sent, 'audioOutput'> {
  const settings = { ...sent }
  delete settings.audioOutput
  return settings
}

/**
 * Shows an agent's stored settings, and null for each setting not stored. The default is not shown instead, because it
 * may change later.
 */
export function wireAgent(agent: Agent): WireAgent {
  const { id, organizationId, test, settings, webhooks, version, createdAtMs, updatedAtMs } = agent
  return {
    id,
    organizationId,
    ...(test && { test: true }),
    ...unset,
    extractionFields: [],
    ...settings,
    webhooks: wireWebhooks(webhooks),
    version,
    createdAt: timeOf(createdAtMs),
    updatedAt: timeOf(updatedAtMs),
  }
}

/** Shows an agent's webhooks. Null if no field is set. */
function wireWebhooks(webhooks: AgentWebhooks): WireWebhooks | null {
  if (Object.keys(webhooks).length === 0) return null
  const { preCall, postCall, status, analysis, recording } = webhooks
  return {
    preCall: preCall ? wireWebhook(preCall) : null,
    postCall: postCall ? { ...wireWebhook(postCall), extractionFields: postCall.extractionFields } : null,
    status: status ? wireWebhook(status) : null,
    analysis: analysis ? wireWebhook(analysis) : null,
    recording: recording ? wireWebhook(recording) : null,
  }
}

/** Shows an endpoint. It contains no secret, because secrets are stored separately. */
function wireWebhook(endpoint: Endpoint): AgentWebhook {
  return {
    endpointId: endpoint.id,
    url: endpoint.url,
    hasSecret: endpoint.signingSecretSource === 'custom',
    headers: endpoint.headers,
    authHeaders: endpoint.authHeaders.map(configuredHeader),
    timeoutMs: timeoutMsOf(endpoint),
  }
}

const unset = {
  voice: null,
  firstMessage: null,
  firstMessageMode: null,
  llmOptions: null,
  stackPreferences: null,
  sttOptions: null,
  ttsOptions: null,
  backgroundAudio: null,
  speechNormalization: null,
  idleRePrompts: null,
  turnHandling: null,
  voicemail: null,
  maxDurationSeconds: null,
  silenceTimeoutSeconds: null,
  endCallMessage: null,
  fallbackMessage: null,
  maxToolHops: null,
  timezone: null,
  recording: null,
  clientOverrides: null,
  promptVariables: null,
  rmsg: null,
} as const satisfies Partial<Record<keyof WireAgent, null>>
