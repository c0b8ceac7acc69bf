/**
 * Chooses the trace for a delivery attempt. An attempt soon after the event joins its call's trace. A later attempt
 * begins a separate trace with a link to the call: collectors close a trace some minutes after its last span, so a span
 * hours later would be lost or shown alone.
 */
import type { Trace, Traces } from '../ports/trace.ts'
import type { AttemptError } from '../records/webhook-delivery.ts'

export type TracedEvent = { id: string; type: string; callId: string | null; createdAtMs: number }

/** Attempts within ten minutes after the event belong to the call's trace. */
const ofCallMs = 600_000

export function attemptTrace(
  traces: Traces | null | undefined,
  { callId, createdAtMs }: TracedEvent,
  nowMs: number,
): Trace | null {
  if (!traces) return null
  const isYoung = nowMs - createdAtMs < ofCallMs
  return callId !== null && isYoung ? traces.call(callId).below() : traces.begin(callId)
}

export function recordDelivery(
  trace: Trace | null,
  { id, type, callId }: TracedEvent,
  { startedMs, status, error }: { startedMs: number; status: number | undefined; error: AttemptError | null },
): void {
  trace?.record({
    name: `webhook ${type}`,
    kind: 'client',
    startedMs,
    attributes: {
      'http.request.method': 'POST',
      'http.response.status_code': status,
      'gen_ai.conversation.id': callId ?? undefined,
      'parley.event.id': id,
      'parley.event.type': type,
    },
    ...(error !== null && { failure: error }),
  })
}
