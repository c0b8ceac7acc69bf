/**
 * A stored webhook endpoint: an organization's address for its calls' events. Its secrets are stored separately and
 * sealed.
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

/** An agent's deprecated fields. */
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
   * True if the endpoint gets all calls in its world, even calls without an agent. Otherwise it gets the calls of
   * `agentIds`.
   */
  allAgents: boolean
  agentIds: string[]
  /** A call must have all these tags. */
  filterTags: Record<string, string>
  headers: Record<string, string>
  /** The names of secret headers, in the client's spelling. */
  authHeaders: string[]
  /** Null for the default timeout of its events. */
  timeoutMs: number | null
  signingSecretSource: 'workspace' | 'custom'
  extractionFields: ExtractionField[]
  /** The agent's field that made this endpoint. Only that field can change it. */
  legacy: { agentId: string; field: LegacyField } | null
  disabledAtMs: number | null
  disabledReason: DisabledReason | null
  createdAtMs: number
  updatedAtMs: number
}

/** The defaults for an endpoint without an address. */
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

/** A secret and its predecessor. The predecessor also signs for a while. */
export type SigningSecret = { secret: string; previous: { secret: string; untilMs: number } | null }

/** `authHeaders` maps lower-case names to values. `signing` is null if the organization's secret signs. */
export type EndpointSecrets = { authHeaders: Record<string, string>; signing: SigningSecret | null }

export const noEndpointSecrets: EndpointSecrets = { authHeaders: {}, signing: null }

/** A header with a secret value, as sent. If the value is left out, the stored value stays. */
export type AuthHeaderInput = { name: string; value?: string }

/** The data for one delivery attempt. */
export type DeliveryTarget = {
  url: string
  headers: Readonly<Record<string, string>>
  /** Secret values: never log them. */
  authHeaders: Readonly<Record<string, string>>
  timeoutMs: number
  isDisabled: boolean
  /** Each secret signs, the newest first. */
  signingSecrets: readonly string[]
}

export interface DeliveryTargets {
  /** Null if the endpoint no longer exists. Many simultaneous calls share one SQL statement. */
  deliveryTarget(tenant: Tenant, endpointId: string): Promise<DeliveryTarget | null>
}

const timeoutMsDefaults = { preCall: 5_000, others: 10_000 }

export function timeoutMsOf({ timeoutMs, events }: Pick<Endpoint, 'timeoutMs' | 'events'>): number {
  return timeoutMs ?? (events.includes('call.pre_call') ? timeoutMsDefaults.preCall : timeoutMsDefaults.others)
}

export function signingSecretsAt({ secret, previous }: SigningSecret, nowMs: number): string[] {
  return previous !== null && nowMs < previous.untilMs ? [secret, previous.secret] : [secret]
}

/** Compares case-sensitively. An endpoint without filter tags matches every call. */
export function tagsMatch(
  filterTags: Readonly<Record<string, string>>,
  tags: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(filterTags).every(([key, value]) => Object.hasOwn(tags, key) && tags[key] === value)
}
