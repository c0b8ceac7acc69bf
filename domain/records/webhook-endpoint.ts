/** An endpoint is an address of an organization that gets events of its calls, as it is stored. Its secrets are stored apart and sealed. */
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

/** The deprecated fields of an agent. */
export const legacyFields = ['preCall', 'postCall', 'status', 'analysis', 'recording'] as const
export type LegacyField = (typeof legacyFields)[number]

export type Endpoint = {
  id: string
  organizationId: string
  test: boolean
  name: string
  url: string
  events: WebhookEventType[]
  /** Either every call of the world, also those without an agent, or those of `agentIds`. */
  allAgents: boolean
  agentIds: string[]
  /** A call must have all of these among its tags. */
  filterTags: Record<string, string>
  headers: Record<string, string>
  /** The names of headers whose values are secret, as they were sent. */
  authHeaders: string[]
  /** Null: the default of its events. */
  timeoutMs: number | null
  signingSecretSource: 'workspace' | 'custom'
  extractionFields: ExtractionField[]
  /** The field of an agent that made this endpoint and alone changes it. */
  legacy: { agentId: string; field: LegacyField } | null
  disabledAtMs: number | null
  disabledReason: DisabledReason | null
  createdAtMs: number
  updatedAtMs: number
}

/** The defaults of an endpoint that has no address yet. */
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

/** A secret, and the one before it, which signs too for a while. */
export type SigningSecret = { secret: string; previous: { secret: string; untilMs: number } | null }

/** `authHeaders` has the values by their names in lower case. `signing` is null where the secret of the organization signs. */
export type EndpointSecrets = { authHeaders: Record<string, string>; signing: SigningSecret | null }

export const noEndpointSecrets: EndpointSecrets = { authHeaders: {}, signing: null }

/** A header with a secret value, as it is sent. A value that is left out is the stored one. */
export type WantedHeader = { name: string; value?: string }

/** One attempt to deliver needs this. */
export type DeliveryTarget = {
  url: string
  headers: Readonly<Record<string, string>>
  /** Their values belong in no log. */
  authHeaders: Readonly<Record<string, string>>
  timeoutMs: number
  isDisabled: boolean
  /** Each signs, the new one first. */
  signingSecrets: readonly string[]
}

export interface DeliveryTargets {
  /** Null: there is no such endpoint any more. Many calls at once are one statement. */
  deliveryTarget(tenant: Tenant, endpointId: string): Promise<DeliveryTarget | null>
}

const timeoutMsDefaults = { preCall: 5_000, others: 10_000 }

export function timeoutMsOf({ timeoutMs, events }: Pick<Endpoint, 'timeoutMs' | 'events'>): number {
  return timeoutMs ?? (events.includes('call.pre_call') ? timeoutMsDefaults.preCall : timeoutMsDefaults.others)
}

export function signingSecretsAt({ secret, previous }: SigningSecret, nowMs: number): string[] {
  return previous !== null && nowMs < previous.untilMs ? [secret, previous.secret] : [secret]
}

/** Case-sensitive. An endpoint without filter tags matches every call. */
export function tagsMatch(
  filterTags: Readonly<Record<string, string>>,
  tags: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(filterTags).every(([key, value]) => Object.hasOwn(tags, key) && tags[key] === value)
}
