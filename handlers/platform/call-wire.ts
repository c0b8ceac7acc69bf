/** Writes calls, call events, spans and call reports in the contract's names. */
import type { WholeCall, WholeReport } from '../../domain/calls/calls.ts'
import type { CostLine } from '../../domain/calls/costs.ts'
import type { StructuredData } from '../../domain/calls/report.ts'
import type { SpanTree } from '../../domain/calls/span-tree.ts'
import type { CallSummary, StoredEvent } from '../../domain/calls/store.ts'
import { transferRow } from '../../domain/calls/transfer-payload.ts'
import { type Call, type CallPhone, durationS, roomNameOf, type Span } from '../../domain/records/call.ts'
import type { ReportDeliveries, ReportDelivery } from '../../domain/webhooks/report-deliveries.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { wireCallback } from './callback-wire.ts'
import { moneyOf } from './money.ts'
import { pipelineConfig } from './pipeline-wire.ts'
import { sipOf } from './sip-status.ts'
import { timeOf, timeOrNull } from './times.ts'
import { callTurn } from './turn-wire.ts'

export function wireCall({ call, turns, spans, report, transfers, ...origin }: WholeCall): Wire.Call {
  const { id, pipeline } = call
  return {
    id,
    ...(call.test && { test: true }),
    call_id: id,
    resource_uri: resourceOf(call),
    agent_id: call.agentId,
    agent_name: origin.agentName,
    agent_version: pipeline.agentVersion ?? null,
    started_by: origin.startedBy,
    status: call.status,
    kind: call.kind,
    ...ofPhone(call.phone),
    room_name: roomNameOf(call),
    language: pipeline.intent.language,
    pipeline_config: pipelineConfig(pipeline),
    metadata: call.metadata,
    created_at: timeOf(call.createdAtMs),
    updated_at: timeOf(call.updatedAtMs),
    started_at: timeOrNull(call.startedAtMs),
    recording_started_at: timeOrNull(origin.recordingStartedAtMs),
    ended_at: timeOrNull(call.endedAtMs),
    end_reason: call.endReason,
    duration_seconds: durationS(call),
    recording_status: call.recordingStatus,
    recording_duration_ms: call.recordingDurationMs,
    recording_resource_uri: recordingOf(call),
    report: report && wireReport(report),
    transfers: transfers.map(transferRow),
    transcript: { entries: turns.map(callTurn) },
    span_tree: spans === null ? {} : wireSpans(spans),
  }
}

function ofPhone(phone: CallPhone | null) {
  return {
    direction: phone?.direction ?? null,
    from: phone?.from ?? null,
    to: phone?.to ?? null,
    phone_number_id: phone?.phoneNumberId ?? null,
    call_control_id: phone?.legId ?? null,
  }
}

export const resourceOf = ({ id }: Pick<Call, 'id'>) => `/v1/calls/${id}`
const recordingOf = (call: Pick<Call, 'id'>) => `${resourceOf(call)}/recording`

export function callItem(call: CallSummary): Wire.CallItem {
  return {
    id: call.id,
    call_id: call.id,
    resource_uri: resourceOf(call),
    agent_id: call.agentId,
    status: call.status,
    kind: call.kind,
    room_name: roomNameOf(call),
    language: call.language,
    created_at: timeOf(call.createdAtMs),
    ended_at: timeOrNull(call.endedAtMs),
    duration_seconds: durationS(call),
    recording_status: call.recordingStatus,
  }
}

export function wireEvent(call: { id: string; organizationId: string }, event: StoredEvent): Wire.CallEvent {
  return {
    id: event.id,
    session_id: call.id,
    organization_id: call.organizationId,
    provider: event.provider,
    event_type: event.type,
    status: event.status,
    failure_cause: event.failureCause,
    ...sipOf(event),
    occurred_at: timeOf(event.occurredAtMs),
    created_at: timeOf(event.createdAtMs),
    payload: event.payload,
  }
}

function wireSpans({ startedAtMs, durationMs, root }: SpanTree): Wire.SpanTree {
  return { version: 1, started_at: timeOf(startedAtMs), duration_ms: durationMs, spans: [wireSpan(root)] }
}

function wireSpan({ id, kind, startMs, durationMs, criticalMs, attributes, children }: Span): Wire.CallSpan {
  const times = { start_ms: startMs, duration_ms: durationMs, critical_ms: criticalMs }
  return { id, kind, ...times, attributes, children: children.map(wireSpan) }
}

export function wireReport({ call, report, turns, costs, callback, deliveries }: WholeReport): Wire.CallReport {
  return {
    session_id: call.id,
    organization_id: call.organizationId,
    version: report.version,
    summary: report.summary,
    outcome: report.outcome,
    structured_data: wireStructured(report.structuredData),
    custom_data: report.customData,
    transcript: { entries: turns.map(callTurn) },
    cost_micro_usd: String(costs.costMicroUsd),
    cost_complete: costs.isComplete,
    cost_breakdown: costs.lines.map(wireCost),
    metadata: call.metadata,
    artifacts: artifactsOf(call, turns.length, false),
    scheduled_callback: callback && wireCallback(callback),
    analysis_status: report.analysisStatus,
    analysis_provider: report.analysisProvider,
    analysis_model: report.analysisModel,
    analysis_error: report.analysisError,
    analysis_completed_at: timeOrNull(report.analysisCompletedAtMs),
    ...wireDeliveries(deliveries),
    created_at: timeOf(report.createdAtMs),
    updated_at: timeOf(report.updatedAtMs),
  }
}

function wireDeliveries({ status, attempts, nextRetryAtMs, deliveredAtMs, error, deliveries }: ReportDeliveries) {
  return {
    post_call_webhook_status: status,
    post_call_webhook_attempts: attempts,
    post_call_webhook_next_retry_at: timeOrNull(nextRetryAtMs),
    post_call_webhook_delivered_at: timeOrNull(deliveredAtMs),
    post_call_webhook_error: error,
    webhook_deliveries: deliveries.map(wireDelivery),
  }
}

function wireDelivery({
  endpointId,
  id,
  eventId,
  isDelivered,
  httpStatus,
  ...delivery
}: ReportDelivery): Wire.ReportDelivery {
  return {
    endpointId,
    deliveryId: id,
    eventId,
    delivered: isDelivered,
    status: httpStatus,
    error: delivery.error,
    createdAt: timeOf(delivery.createdAtMs),
  }
}

export function wireStructured(data: StructuredData | null): Wire.StructuredData {
  if (data === null) return {}
  const { topics, sentiment, resolved, actionItems, message } = data
  return { topics: [...topics], sentiment, resolved, action_items: [...actionItems], message }
}

export function wireCost({ costMicroUsd, ...line }: CostLine): Wire.CostLine {
  return { ...line, costMicroUsd: moneyOf(costMicroUsd) }
}

/**
 * Shows a call's recording. A running recording is shown as uploading, and a call without a recording as suppressed.
 */
export function artifactsOf(call: Call, entries: number, isTruncated: boolean): Wire.CallArtifacts {
  const { recordingStatus, recordingDurationMs } = call
  const status = recordingStatus === 'recording' ? 'uploading' : (recordingStatus ?? 'suppressed')
  const url = status === 'ready' ? recordingOf(call) : null
  return {
    recording: { status, url, duration_ms: recordingDurationMs, content_type: 'audio/wav', channels: 2 },
    transcript: { entries_total: entries, truncated: isTruncated },
  }
}
