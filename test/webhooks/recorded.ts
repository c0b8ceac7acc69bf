/** Puts endpoints and deliveries into a store directly. */
import type postgres from 'postgres'
import { v7 } from 'uuid'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Attempt } from '../../domain/records/webhook-delivery.ts'
import { expiryMs } from '../../domain/webhooks/outbox.ts'
import type { Store } from '../../store/store.ts'

export type EndpointColumns = { name?: string; timeoutMs?: number | null; headers?: object }

/** Returns the new endpoint's id. */
export async function insertEndpoint(
  sql: postgres.Sql<{ bigint: number }> | postgres.Sql,
  { organizationId, test }: Tenant,
  url: string,
  nowMs = Date.now(),
  { name = 'Reports', timeoutMs = null, headers = {} }: EndpointColumns = {},
): Promise<string> {
  const id = v7()
  const now = new Date(nowMs)
  await (sql as postgres.Sql)`
    insert into webhook_endpoints (organization_id, test, id, name, url, events, all_agents, agent_ids, filter_tags, headers,
      auth_headers, timeout_ms, signing_secret_source, extraction_fields, created_at, updated_at)
    values (${organizationId}, ${test}, ${id}, ${name}, ${url}, '["call.status"]', true, '[]', '{}',
      ${JSON.stringify(headers)}::text::json, '[]', ${timeoutMs}, 'workspace', '[]', ${now}, ${now})`
  return id
}

export type Recorded = { callId?: string; agentId?: string | null; endpointName?: string; payload?: object }

/** Returns the id of a delivery that succeeded at its first attempt. */
export async function recordDelivery(
  store: Store,
  tenant: Tenant,
  endpointId: string,
  { callId = v7(), agentId = null, endpointName = 'Reports', payload = {} }: Recorded = {},
): Promise<string> {
  const nowMs = Date.now()
  const eventId = v7()
  const body = Buffer.from(JSON.stringify({ type: 'call.status', call_id: callId, ...payload }))
  const type = 'call.status' as const
  const tags = { team: 'shop' }
  const times = { occurredAtMs: nowMs, createdAtMs: nowMs }
  const attempt: Attempt = {
    id: v7(),
    trigger: 'automatic',
    requestUrl: 'https://shop.example/hooks/reports',
    requestHeaders: {
      'content-type': 'application/json',
      'user-agent': 'Parley',
      authorization: '***',
      'webhook-id': eventId,
      'webhook-timestamp': '1795276861',
      'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
    responseStatus: 200,
    responseBody: Buffer.from('ok'),
    isResponseTruncated: false,
    durationMs: 84,
    error: null,
    createdAtMs: nowMs,
  }
  const delivery = {
    ...tenant,
    id: v7(),
    eventId,
    endpointId,
    type,
    callId,
    createdAtMs: nowMs,
    body,
    claim: 1,
    failures: 0,
    trigger: 'automatic' as const,
    expiresAtMs: nowMs + expiryMs,
    claimedUntilMs: nowMs,
  }
  await store.webhookDeliveries.record(tenant, {
    event: { id: eventId, type, callId, agentId, tags, version: null, body, ...times },
    endpointName,
    end: { delivery, attempt, status: 'succeeded', error: null, dueAtMs: null, failures: 0, endpoint: 'worked' },
  })
  return delivery.id
}
