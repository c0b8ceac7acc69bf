/** A store with endpoints, and the call events in its outbox. */
import type { Test } from 'tap'
import { v7 } from 'uuid'
import { validatorsOf } from '../../app/answer-checks.ts'
import type { Analysis } from '../../domain/calls/store.ts'
import type { Call, CallEntry } from '../../domain/records/call.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { ExtractionField, WebhookEventType } from '../../domain/records/webhook-endpoint.ts'
import { platformContract } from '../../generated/platform/contract.ts'
import { eventPayloads } from '../../handlers/platform/event-payloads.ts'
import type { EventSource } from '../../store/calls/call-webhooks.ts'
import type { Store } from '../../store/store.ts'
import { newCall, newEvent, newTurn } from '../calls/call.ts'
import { organization, type TestCluster } from '../store/cluster.ts'

export type NewEndpoint = {
  events: WebhookEventType[]
  url?: string
  agentIds?: string[]
  filterTags?: Record<string, string>
  fields?: ExtractionField[]
  timeoutMs?: number
  test?: boolean
}

export const all: WebhookEventType[] = ['call.status', 'call.report', 'call.analysis', 'call.recording']

type Sql = ReturnType<TestCluster['sql']>

/** Returns the new endpoint's id. */
export async function insertEndpoint(sql: Sql, organizationId: string, endpoint: NewEndpoint): Promise<string> {
  const { events, url = 'http://127.0.0.1:9/', agentIds = [], filterTags = {}, fields = [], ...more } = endpoint
  const id = v7()
  const now = new Date()
  await sql`
    insert into webhook_endpoints (organization_id, test, id, name, url, events, all_agents, agent_ids, filter_tags,
      headers, auth_headers, timeout_ms, signing_secret_source, extraction_fields, created_at, updated_at)
    values (${organizationId}, ${more.test ?? false}, ${id}, ${`endpoint ${id}`}, ${url}, ${sql.json(events)},
      ${agentIds.length === 0}, ${sql.json(agentIds)}, ${sql.json(filterTags)}, '{}', '[]', ${more.timeoutMs ?? null},
      'workspace', ${sql.json(fields)}, ${now}, ${now})`
  return id
}

export type StoredEvent = {
  id: string
  type: WebhookEventType
  version: number | null
  body: Record<string, unknown>
  bytes: Buffer
  endpointId: string
  status: string
}

export type World = {
  store: Store
  sql: Sql
  tenant: Tenant
  endpoint(endpoint: NewEndpoint): Promise<string>
  /** Stores a call without a joined caller. */
  call(more?: Partial<Call>): Promise<Call>
  /** Returns every delivery with its event, oldest first. */
  events(call: Call): Promise<StoredEvent[]>
  /** Returns the event types, and the versions of call reports. */
  names(call: Call): Promise<string[]>
}

const linkOf: EventSource['recordingUrl'] = ({ id }) =>
  Promise.resolve(`https://parley.example/recordings/${id}.wav?signature=s`)

export async function openWorld(t: Test, cluster: TestCluster, recordingUrl = linkOf): Promise<World> {
  const url = await cluster.database()
  const events = { payloads: eventPayloads, recordingUrl }
  const store = await cluster.store(t, url, { serves: false, events })
  const sql = cluster.sql(t, url)
  const { id: organizationId } = await organization(store, 'a')
  const eventsOf = async ({ id }: Call): Promise<StoredEvent[]> => {
    const rows = await sql<(Omit<StoredEvent, 'body'> & { body: never })[]>`
      select e.id, e.type, e.version, coalesce(d.body, e.body) as bytes, d.endpoint_id as "endpointId", d.status
      from webhook_events e join webhook_deliveries d on d.event_id = e.id
      where e.call_id = ${id} order by e.created_at, e.occurred_at, e.id, d.id`
    return rows.map((row) => ({ ...row, body: JSON.parse(row.bytes.toString()) as Record<string, unknown> }))
  }
  return {
    store,
    sql,
    tenant: { organizationId, test: false },
    endpoint: (endpoint) => insertEndpoint(sql, organizationId, endpoint),
    async call(more) {
      const call = newCall(organizationId, more)
      await store.calls.insert(call, {})
      return call
    },
    events: eventsOf,
    async names(call) {
      return (await eventsOf(call)).map(({ type, version }) => (version === null ? type : `${type} ${version}`))
    },
  }
}

export async function append({ store }: World, call: Call, ...entries: CallEntry[]): Promise<void> {
  const refused = await store.calls.append(call, call.id, entries)
  if (refused.length > 0) throw new Error('refused')
}

const startMs = 1_790_000_000_000

export const connected = (): CallEntry => ({
  kind: 'move',
  event: newEvent('call.in_progress', { occurredAtMs: startMs }),
  to: 'in_progress',
  change: { startedAtMs: startMs },
})

export const ended = (): CallEntry => ({
  kind: 'move',
  event: newEvent('call.completed', { occurredAtMs: startMs + 57_500 }),
  to: 'completed',
  change: { endedAtMs: startMs + 57_500, endReason: 'user_hangup' },
})

export const recording = (status: 'recording' | 'uploading' | 'ready' | 'failed'): CallEntry => ({
  kind: 'recording',
  event: newEvent(`recording.${status}`, { provider: 'media' }),
  status,
  durationMs: status === 'ready' ? 57_400 : null,
})

export const spoken = (): CallEntry => ({ kind: 'turn', turn: newTurn() })

export const analysis = (more: Partial<Analysis> = {}): Analysis => ({
  summary: 'The user asked for the opening hours.',
  outcome: 'resolved',
  structuredData: { topics: ['opening hours'], sentiment: 'neutral', resolved: true, actionItems: [], message: null },
  customData: {},
  endpointData: {},
  status: 'completed',
  provider: 'main',
  model: 'chat',
  error: null,
  callback: null,
  ...more,
})

/** Validates the payload. Null if it conforms to the contract. */
export function faultOf(type: string, body: object): unknown {
  const validate = validatorsOf('platform')?.payload(type)
  return validate?.(body) ? null : (validate?.errors?.[0] ?? `${type} is in no contract`)
}

type Webhook = {
  post: { requestBody: { content: { 'application/json': { examples: Record<string, { value: object }> } } } }
}

/** Returns the named example, or the first one. */
export function exampleOf(type: string, name?: string): object {
  const { webhooks } = JSON.parse(platformContract) as { webhooks: Record<string, Webhook> }
  const { examples = {} } = webhooks[type]?.post.requestBody.content['application/json'] ?? {}
  return examples[name ?? Object.keys(examples)[0] ?? '']?.value ?? {}
}
