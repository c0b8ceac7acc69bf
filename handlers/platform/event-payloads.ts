/** Writes the bodies of webhook events in the contract's names. */
import type { EventPayloads, ReportedCall } from '../../domain/calls/payloads.ts'
import type { CustomData, Report } from '../../domain/calls/report.ts'
import type { Call, CallEvent, CallKind } from '../../domain/records/call.ts'
import { durationS } from '../../domain/records/call.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { artifactsOf, wireCost, wireStructured } from './call-wire.ts'
import { wireCallback } from './callback-wire.ts'
import { pipelineConfig } from './pipeline-wire.ts'
import { sipOf } from './sip-status.ts'
import { timeOf, timeOrNull } from './times.ts'
import { callTurn } from './turn-wire.ts'

/** A call report's maximum size. If a report would be larger, its oldest turns are left out. */
export const reportBytesMax = 4 * 1024 * 1024

export const eventPayloads: EventPayloads = {
  preCall: (call, nowMs) =>
    bytesOf<Wire.PreCallEvent>({
      type: 'call.pre_call',
      ...ofCall(call, nowMs),
      ...ofPhones(call),
      dialed_number: call.phone?.to ?? null,
      forwarded_from_number: call.phone?.forwardedFrom ?? null,
      phone_number_id: call.phone?.phoneNumberId ?? null,
      call_control_id: call.phone?.legId ?? null,
      pipeline_config: pipelineConfig(call.pipeline),
    }),
  status: (call, event, nowMs) =>
    bytesOf<Wire.StatusEvent>({
      type: 'call.status',
      ...ofCall(call, nowMs),
      event_id: event.id,
      event_type: event.type,
      provider: event.provider,
      status: event.status,
      failure_cause: event.failureCause,
      ...sipOf(event),
      occurred_at: timeOf(event.occurredAtMs),
      ...transferOf(event),
    }),
  report: boundedReport,
  analysis: (call, report, customData, nowMs) =>
    bytesOf<Wire.AnalysisEvent>({
      type: 'call.analysis',
      ...ofCall(call, nowMs),
      ...findingsOf(report),
      custom_data: customData,
      analysis: analysisOf(report),
    }),
  recording: (call, recordingUrl, nowMs) =>
    bytesOf<Wire.RecordingEvent>({
      type: 'call.recording',
      ...ofCall(call, nowMs),
      recording_url: recordingUrl,
      recording: {
        status: call.recordingStatus === 'ready' ? 'ready' : 'failed',
        duration_ms: call.recordingDurationMs,
      },
    }),
}

function bytesOf<Event extends object>(event: Event): Uint8Array {
  return Buffer.from(JSON.stringify(event))
}

/**
 * Reads the transfer from the event's payload, which has the contract's form already. `status` is the transfer
 * attempt's status.
 */
function transferOf({ type, payload }: CallEvent): { transfer?: Wire.TransferStep; status?: string } {
  if (!type.startsWith('transfer.')) return {}
  const transfer = payload as Wire.TransferStep
  return { transfer, status: transfer.status }
}

function ofCall(call: Call, nowMs: number) {
  return {
    call_id: call.id,
    session_id: call.id,
    organization_id: call.organizationId,
    agent_id: call.agentId,
    metadata: call.metadata,
    webhook_tags: call.webhookTags,
    created_at: timeOf(nowMs),
    ...(call.test && { test: true }),
  }
}

const directions = {
  browser: 'browser',
  inbound: 'inbound',
  outbound: 'outbound',
  rmsg: 'outbound',
} as const satisfies Record<CallKind, Wire.CallDirection>

const ofPhones = ({ kind, phone }: Call) => ({
  direction: directions[kind],
  to: phone?.to ?? null,
  from: phone?.from ?? null,
})

/** Writes the call report with as many of the newest turns as fit. */
function boundedReport(reported: ReportedCall, customData: CustomData, nowMs: number): Uint8Array {
  const entries = reported.turns.map(callTurn)
  const whole = reportOf(reported, entries, customData, nowMs)
  if (whole.length <= reportBytesMax) return whole
  let left = reportBytesMax - reportOf(reported, [], customData, nowMs).length
  let from = entries.length
  // The loop stops before the oldest turn, because the call report with all turns was too large.
  while (from > 1) {
    const comma = from < entries.length ? 1 : 0
    left -= Buffer.byteLength(JSON.stringify(entries[from - 1])) + comma
    if (left < 0) break
    from--
  }
  return reportOf(reported, entries.slice(from), customData, nowMs)
}

function reportOf(
  { call, report, turnsTotal, costs, callback, recordingUrl }: ReportedCall,
  entries: Wire.CallTurn[],
  customData: CustomData,
  nowMs: number,
): Uint8Array {
  const { direction, ...numbers } = ofPhones(call)
  return bytesOf<Wire.ReportEvent>({
    type: 'call.report',
    ...ofCall(call, nowMs),
    version: report.version,
    direction,
    status: call.status,
    end_reason: call.endReason,
    ...numbers,
    duration_seconds: durationS(call),
    transcript: { entries },
    ...findingsOf(report),
    cost_micro_usd: String(costs.costMicroUsd),
    cost_complete: costs.isComplete,
    cost_breakdown: costs.lines.map(wireCost),
    artifacts: artifactsOf(call, turnsTotal, entries.length < turnsTotal),
    scheduled_callback: callback && wireCallback(callback),
    recording_url: recordingUrl,
    custom_data: customData,
    analysis: analysisOf(report),
  })
}

function findingsOf({ summary, outcome, structuredData }: Report) {
  return { summary, outcome, structured_data: wireStructured(structuredData) }
}

function analysisOf(report: Report): Wire.AnalysisResult {
  const { analysisStatus, analysisProvider, analysisModel, analysisCompletedAtMs } = report
  // A pending analysis would be a defect, because these events are made after the analysis has ended.
  if (analysisStatus === 'pending') throw new Error('the analysis of the call is pending')
  return {
    status: analysisStatus,
    provider: analysisProvider,
    model: analysisModel,
    completed_at: timeOrNull(analysisCompletedAtMs),
  }
}
