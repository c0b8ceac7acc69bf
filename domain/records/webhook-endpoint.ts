/**
 * A stored webhook endpoint: an organization's URL for its calls' events. Its secrets are stored separately, encrypted.
 */
import type { Tenant } from './organization.ts'

export const webhookEventTypes = [
  'call.pre_call',
  'call.status',
  'call.report',
  'call.analysis',
  'call.recording',
] as const
export type WebhookEventType = (typeof webhookEventTypes)[number]

export type ExtractionField = {
  name: string
  type: 'string' | 'number' | 'boolean' | 'enum'
  description: string
  options?: string[]
}

export type DisabledReason = 'manual' | 'gone' | 'failing' | 'agents_deleted'

/** An agent's deprecated webhook fields. */
export const legacyFields = ['preCall', 'postCall', 'status', 'analysis', 'recording'] as const
export type LegacyField = (typeof legacyFields)[number]

export type Endpoint = {
  id: string
  organizationId: string
  test: boolean
  name: string
  url: string
  events: WebhookEventType[]
  /**
   * True if the endpoint gets all live or all test calls, even calls without an agent. Otherwise it gets only the calls
   * of the agents in `agentIds`.
   */
  allAgents: boolean
  agentIds: string[]
  /** The endpoint gets only calls with all these tags. */
  filterTags: Record<string, string>
  headers: Record<string, string>
  /** Names of headers with secret values, in the client's spelling. */
  authHeaders: string[]
  /** Null if the default for the endpoint's events applies. */
  timeoutMs: number | null
  signingSecretSource: 'workspace' | 'custom'
  extractionFields: ExtractionField[]
  /**
   * The agent's deprecated field behind this endpoint. The endpoint can be changed only through this field. Null for
   * other endpoints.
   */
  legacy: { agentId: string; field: LegacyField } | null
  disabledAtMs: number | null
  disabledReason: DisabledReason | null
  createdAtMs: number
  updatedAtMs: number
}

/** Makes an endpoint with the defaults, still without a URL. */
export function blankEndpoint({ organizationId, test }: Tenant, id: string, nowMs: number): Endpoint {
  return {
    id,
    organizationId,
    test,
    name: '',
    url: '',
    events: [],
    allAgents: true,
    agentIds: [],
    filterTags: {},
    headers: {},
    authHeaders: [],
    timeoutMs: null,
    signingSecretSource: 'workspace',
    extractionFields: [],
    legacy: null,
    disabledAtMs: null,
    disabledReason: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
}

/** A secret and its predecessor, which also signs requests for a while after the change. */
export type SigningSecret = { secret: string; previous: { secret: string; untilMs: number } | null }

/**
 * The keys of `authHeaders` are header names in lower case. `signing` is null if the organization's secret signs the
 * requests.
 */
export type EndpointSecrets = { authHeaders: Record<string, string>; signing: SigningSecret | null }

export const noEndpointSecrets: EndpointSecrets = { authHeaders: {}, signing: null }

/** A header with a secret value, as clients send it. If the value is absent, the stored value is kept. */
export type AuthHeaderInput = { name: string; value?: string }

/** All data for one delivery attempt. */
export type DeliveryTarget = {
  url: string
  headers: Readonly<Record<string, string>>
  /** Secret values: never log them. */
  authHeaders: Readonly<Record<string, string>>
  timeoutMs: number
  isDisabled: boolean
  /** The secrets that sign each request, the newest first. */
  signingSecrets: readonly string[]
}

export interface DeliveryTargets {
  /** Resolves with null if the endpoint no longer exists. Simultaneous lookups share one SQL statement. */
  deliveryTarget(tenant: Tenant, endpointId: string): Promise<DeliveryTarget | null>
}

const timeoutMsDefaults = { preCall: 5_000, others: 10_000 }

export function timeoutMsOf({ timeoutMs, events }: Pick<Endpoint, 'timeoutMs' | 'events'>): number {
  return timeoutMs ?? (events.includes('call.pre_call') ? timeoutMsDefaults.preCall : timeoutMsDefaults.others)
}

export function signingSecretsAt({ secret, previous }: SigningSecret, nowMs: number): string[] {
  return previous !== null && nowMs < previous.untilMs ? [secret, previous.secret] : [secret]
}

/**
 * Returns true if the tags contain all filter tags. Compares case-sensitively. Without filter tags, every call matches.
 */
export function tagsMatch(
  filterTags: Readonly<Record<string, string>>,
  tags: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(filterTags).every(([key, value]) => Object.hasOwn(tags, key) && tags[key] === value)
}
