/** Makes the event for testing an endpoint. The event's call does not exist, and the event is marked as `test`. */
import type { EventPayloads } from '../../calls/payloads.ts'
import type { Report } from '../../calls/report.ts'
import type { Call } from '../../records/call.ts'
import type { Tenant } from '../../records/organization.ts'
import type { Endpoint, WebhookEventType } from '../../records/webhook-endpoint.ts'
import { joinSettings } from '../../sessions/join.ts'
import type { OutboxEvent } from '../outbox.ts'

type Ids = { eventId: string; callId: string }

const durationMs = 60_000

export function testEvent(
  payloads: EventPayloads,
  tenant: Tenant,
  endpoint: Endpoint,
  type: WebhookEventType,
  ids: Ids,
  nowMs: number,
): OutboxEvent {
  const { eventId: id, callId } = ids
  const version = type === 'call.report' ? 1 : null
  const tags = endpoint.filterTags
  const body = bodyOf(payloads, endpoint, type, callOf(tenant, endpoint, callId, nowMs), ids, nowMs)
  return { id, type, callId, agentId: null, tags, version, body, occurredAtMs: nowMs, createdAtMs: nowMs }
}

function bodyOf(
  payloads: EventPayloads,
  { extractionFields }: Endpoint,
  type: WebhookEventType,
  call: Call,
  { eventId }: Ids,
  nowMs: number,
): Uint8Array {
  const report = reportOf(nowMs)
  const customData = Object.fromEntries(extractionFields.map(({ name }) => [name, null]))
  switch (type) {
    case 'call.pre_call':
      return payloads.preCall(call, nowMs)
    case 'call.status':
      return payloads.status(
        call,
        {
          id: eventId,
          provider: 'service',
          type: 'call.completed',
          status: call.status,
          failureCause: null,
          occurredAtMs: nowMs,
          payload: {},
        },
        nowMs,
      )
    case 'call.report': {
      const costs = { lines: [], costMicroUsd: 0, isComplete: true }
      const reported = { call, report, turns: [], turnsTotal: 0, costs, callback: null, recordingUrl: null }
      return payloads.report(reported, customData, nowMs)
    }
    case 'call.analysis':
      return payloads.analysis(call, report, customData, nowMs)
    case 'call.recording':
      return payloads.recording({ ...call, recordingStatus: 'failed' }, null, nowMs)
  }
}

function callOf({ organizationId }: Tenant, { filterTags }: Endpoint, id: string, nowMs: number): Call {
  return {
    id,
    organizationId,
    test: true,
    agentId: null,
    keyId: '',
    status: 'completed',
    kind: 'browser',
    phone: null,
    identity: 'test',
    pipeline: { transport: 'websocket', ...joinSettings(null), recording: false, tools: [] },
    metadata: {},
    webhookTags: filterTags,
    createdAtMs: nowMs - durationMs,
    updatedAtMs: nowMs,
    expiresAtMs: nowMs,
    startedAtMs: nowMs - durationMs,
    endedAtMs: nowMs,
    endReason: 'user_hangup',
    recordingStatus: 'suppressed',
    recordingDurationMs: null,
    ownerId: null,
  }
}

function reportOf(nowMs: number): Report {
  return {
    version: 1,
    analysisStatus: 'heuristic',
    analysisProvider: null,
    analysisModel: null,
    analysisError: null,
    analysisCompletedAtMs: nowMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    summary: 'This is a test event.',
    outcome: 'completed',
    structuredData: null,
    customData: {},
  }
}
