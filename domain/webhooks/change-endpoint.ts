/**
 * Applies a client's change to a stored endpoint: fills in defaults, and keeps stored secrets that the change does not
 * contain.
 */
import type { Issue } from '../records/resource-fault.ts'
import type {
  AuthHeaderInput,
  Endpoint,
  EndpointSecrets,
  ExtractionField,
  SigningSecret,
  WebhookEventType,
} from '../records/webhook-endpoint.ts'
import { joinAuthHeaders } from './auth-headers.ts'
import { isSameOrigin } from './target.ts'

/** Null selects the default. An absent field is not changed. */
export type EndpointChange = {
  name?: string
  url?: string
  events?: WebhookEventType[]
  allAgents?: boolean
  agentIds?: string[] | null
  filterTags?: Record<string, string> | null
  headers?: Record<string, string> | null
  authHeaders?: AuthHeaderInput[] | null
  timeoutMs?: number | null
  signingSecret?: string | null
  signingSecretSource?: 'workspace' | 'custom'
  extractionFields?: ExtractionField[] | null
  disabled?: boolean
}

export type ChangedEndpoint = { endpoint: Endpoint; secrets: EndpointSecrets; issues: Issue[] }

/** After a change, requests are signed with both the previous and the new custom secret for this long. */
const overlapMs = 86_400_000

/** `secrets` decrypts the stored secrets. */
export function changeEndpoint(
  stored: Endpoint,
  secrets: () => EndpointSecrets,
  change: EndpointChange,
  nowMs: number,
): ChangedEndpoint {
  const storedSecrets = secrets()
  const headers = headersOf(stored, storedSecrets, change)
  const signing = signingOf(storedSecrets.signing, change, nowMs)
  const endpoint: Endpoint = {
    ...stored,
    name: change.name ?? stored.name,
    url: change.url ?? stored.url,
    events: change.events ?? stored.events,
    ...scopeOf(stored, change),
    filterTags: replaced(stored.filterTags, change.filterTags, {}),
    headers: replaced(stored.headers, change.headers, {}),
    authHeaders: headers.names,
    timeoutMs: replaced(stored.timeoutMs, change.timeoutMs, null),
    signingSecretSource: signing.secret === null ? 'workspace' : 'custom',
    extractionFields: replaced(stored.extractionFields, change.extractionFields, []),
    ...stateOf(stored, change, nowMs),
    updatedAtMs: nowMs,
  }
  const isScopeLeft = change.allAgents === undefined && change.agentIds === undefined
  const issues = [
    ...headers.issues,
    ...signing.issues,
    // An endpoint is disabled when all its agents are deleted. Such an endpoint may be changed even before it has other
    // agents.
    ...(isScopeLeft && endpoint.disabledAtMs !== null ? [] : scopeIssues(endpoint)),
    ...extractionScopeIssues(endpoint),
  ]
  return { endpoint, secrets: { authHeaders: headers.values, signing: signing.secret }, issues }
}

function replaced<Value>(stored: Value, sent: Value | null | undefined, unset: Value): Value {
  return sent === undefined ? stored : (sent ?? unset)
}

/** Returns the endpoint's agents after the change. An empty list does not mean all agents. */
function scopeOf(stored: Endpoint, { allAgents, agentIds }: EndpointChange): Pick<Endpoint, 'allAgents' | 'agentIds'> {
  const ids = replaced(allAgents === true ? [] : stored.agentIds, agentIds, [])
  return { allAgents: allAgents ?? (ids.length > 0 ? false : stored.allAgents), agentIds: ids }
}

function scopeIssues({ allAgents, agentIds }: Endpoint): Issue[] {
  if (allAgents === (agentIds.length === 0)) return []
  return allAgents
    ? [{ path: ['allAgents'], problem: { kind: 'agents_not_taken' } }]
    : [{ path: ['agentIds'], problem: { kind: 'agents_missing' } }]
}

function extractionScopeIssues({ events, extractionFields }: Endpoint): Issue[] {
  if (extractionFields.length === 0 || events.includes('call.report') || events.includes('call.analysis')) return []
  return [{ path: ['extractionFields'], problem: { kind: 'extraction_not_taken' } }]
}

function stateOf(
  { disabledAtMs, disabledReason }: Endpoint,
  { disabled }: EndpointChange,
  nowMs: number,
): Pick<Endpoint, 'disabledAtMs' | 'disabledReason'> {
  if (disabled === undefined || disabled === (disabledAtMs !== null)) return { disabledAtMs, disabledReason }
  return disabled ? { disabledAtMs: nowMs, disabledReason: 'manual' } : { disabledAtMs: null, disabledReason: null }
}

/**
 * Returns the secret headers after the change. Stored values are dropped if the origin changes. Otherwise a client
 * could read the values by changing the URL to another server.
 */
function headersOf(stored: Endpoint, storedSecrets: EndpointSecrets, { url, authHeaders }: EndpointChange) {
  const isMoved = url !== undefined && stored.url !== '' && !isSameOrigin(stored.url, url)
  if (authHeaders === undefined) {
    const isLost = isMoved && stored.authHeaders.length > 0
    const issues: Issue[] = isLost ? [{ path: ['authHeaders'], problem: { kind: 'secret_of_other_origin' } }] : []
    return { names: stored.authHeaders, values: storedSecrets.authHeaders, issues }
  }
  const headers = authHeaders ?? []
  const names = stored.authHeaders
  const joined = joinAuthHeaders(['authHeaders'], headers, { names, values: () => storedSecrets.authHeaders }, isMoved)
  return { names: headers.map(({ name }) => name), ...joined }
}

type Signing = { secret: SigningSecret | null; issues: Issue[] }

function signingOf(
  stored: SigningSecret | null,
  { signingSecret: sent, signingSecretSource: source }: EndpointChange,
  nowMs: number,
): Signing {
  const path = ['signingSecret']
  if (typeof sent === 'string') {
    if (source === 'workspace') return { secret: stored, issues: [{ path, problem: { kind: 'secret_not_taken' } }] }
    return { secret: replacedSecret(stored, sent, nowMs), issues: [] }
  }
  if (source === 'custom' && (sent === null || stored === null))
    return { secret: stored, issues: [{ path, problem: { kind: 'secret_missing' } }] }
  return { secret: sent === null || source === 'workspace' ? null : stored, issues: [] }
}

export function replacedSecret(stored: SigningSecret | null, secret: string, nowMs: number): SigningSecret {
  if (stored?.secret === secret) return stored
  return { secret, previous: stored && { secret: stored.secret, untilMs: nowMs + overlapMs } }
}
