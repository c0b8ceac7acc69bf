/**
 * Reads and writes an agent's deprecated webhook fields. Each field is an endpoint for one event, without tags, and can
 * be changed only through the agent.
 */
import type {
  AgentWebhookInput,
  AgentWebhookInputs,
  AgentWebhooks,
  StoredWebhooks,
} from '../records/agent-webhook-fields.ts'
import type { Issue } from '../records/resource-fault.ts'
import {
  blankEndpoint,
  type Endpoint,
  type LegacyField,
  legacyFields,
  noEndpointSecrets,
  type WebhookEventType,
} from '../records/webhook-endpoint.ts'
import type { StoredEndpoint } from '../records/webhook-endpoint-store.ts'
import { changeEndpoint } from './change-endpoint.ts'
import { issuesOfEndpoint } from './endpoints.ts'
import type { HostPolicy } from './target.ts'

const eventOf: Readonly<Record<LegacyField, WebhookEventType>> = {
  preCall: 'call.pre_call',
  postCall: 'call.report',
  status: 'call.status',
  analysis: 'call.analysis',
  recording: 'call.recording',
}

/** Checks the request without the stored settings. */
export function issuesOfWebhooks(inputs: AgentWebhookInputs, hosts: HostPolicy): Issue[] {
  return legacyFields.flatMap((field) => {
    const webhook = inputs[field]
    return webhook ? placed(field, issuesOfEndpoint(settingsOf(webhook), hosts)) : []
  })
}

export type WebhookOwner = { id: string; organizationId: string; test: boolean; name: string }

export const noWebhooks: StoredWebhooks = { endpoints: {}, secrets: () => noEndpointSecrets }

export function byField(webhooks: readonly StoredEndpoint[]): AgentWebhooks {
  const pairs = webhooks.flatMap(({ endpoint }) => (endpoint.legacy ? [[endpoint.legacy.field, endpoint]] : []))
  return Object.fromEntries(pairs) as AgentWebhooks
}

/**
 * Makes the endpoints for the fields. A saved field's endpoint is enabled again, because a client has no other way to
 * enable it.
 */
export function makeWebhooks(
  owner: WebhookOwner,
  inputs: AgentWebhookInputs,
  stored: StoredWebhooks,
  { endpointId, nowMs }: { endpointId: () => string; nowMs: number },
): { webhooks: StoredEndpoint[]; issues: Issue[] } {
  const made = legacyFields.flatMap((field) => {
    const webhook = inputs[field]
    if (!webhook) return []
    const existing = stored.endpoints[field]
    const endpoint = existing ?? blankOf(owner, field, blankEndpoint(owner, endpointId(), nowMs))
    const secrets = () => (existing ? stored.secrets(existing) : noEndpointSecrets)
    const change = { ...settingsOf(webhook), name: nameOf(owner, field), disabled: false }
    return { field, ...changeEndpoint(endpoint, secrets, change, nowMs) }
  })
  return { webhooks: made, issues: made.flatMap(({ field, issues }) => placed(field, issues)) }
}

export function nameOf({ name }: Pick<WebhookOwner, 'name'>, field: LegacyField): string {
  return `${name}: ${field}`
}

function blankOf({ id }: WebhookOwner, field: LegacyField, blank: Endpoint): Endpoint {
  return { ...blank, events: [eventOf[field]], allAgents: false, agentIds: [id], legacy: { agentId: id, field } }
}

/** Makes an endpoint change that replaces all settings. The secret is replaced only if it is present. */
function settingsOf({ secret, ...webhook }: AgentWebhookInput) {
  const { url, headers = null, authHeaders = null, timeoutMs = null, extractionFields = null } = webhook
  const settings = { url, headers, authHeaders, timeoutMs, extractionFields }
  return secret === undefined ? settings : { ...settings, signingSecret: secret }
}

function placed(field: LegacyField, issues: readonly Issue[]): Issue[] {
  return issues.map(({ path, problem }) => ({ path: ['webhooks', field, ...path], problem }))
}
