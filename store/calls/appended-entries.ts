/**
 * Stores a call's new entries, and in the same transaction their effects: the call's row, turns, spans, transfers,
 * callbacks, facts and webhook events, and the report if the call has ended.
 */
import { type Applied, applyEntries } from '../../domain/calls/apply.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Call, CallEntry, CallEvent } from '../../domain/records/call.ts'
import { isPromised } from '../../domain/records/callback.ts'
import type { CallStatus } from '../../domain/records/states/call.ts'
import type { Tx } from '../postgres/connect.ts'
import { dateOrNull } from '../postgres/row-values.ts'
import { notifyCallChange } from './call-changes.ts'
import { insertEvents, insertSpans, insertTurns, storedEventIds } from './call-entries.ts'
import { writeFacts } from './call-facts.ts'
import { insertFirstReport } from './call-reports.ts'
import { ofCall } from './call-rows.ts'
import type { CallWebhooks, ReadAudience } from './call-webhooks.ts'
import { insertPromised, lastCallbackOf } from './callbacks.ts'
import { hasCompletedTransfer, storeTransfers } from './transfers.ts'

export type AppendDeps = {
  clock: Clock
  webhooks: CallWebhooks
  /** Makes the id for an event, a UUIDv7. */
  eventId: () => string
}

/** Stores entries and their effects. The call's row must be locked. Returns the refused entries. */
export async function appendEntries(
  tx: Tx,
  deps: AppendDeps,
  call: Call,
  entries: readonly CallEntry[],
): Promise<CallEntry[]> {
  const storedIds = await storedEventIds(tx, call, entries)
  const nowMs = deps.clock.nowMs()
  const applied = applyEntries(call, entries, (id) => storedIds.has(id), nowMs)
  await insertTurns(tx, call, applied.turns)
  await insertSpans(tx, call, applied.spans)
  await storeTransfers(tx, applied.transfers)
  const replaced = await storeCallbacks(tx, deps, applied)
  const audience = deps.webhooks.audience(tx, call)
  const { next, types } = await closed(tx, applied, audience, nowMs)
  const afterMs = Math.max(nowMs, applied.events.at(-1)?.occurredAtMs ?? 0)
  const closing = types.map((type, at) => closingEvent(deps, type, next.status, afterMs + at + 1))
  const events = [...applied.events, ...replaced, ...closing]
  await insertEvents(tx, call, events, nowMs)
  await update(tx, next, applied.hasEnded)
  await writeFacts(tx, [call.id], nowMs, applied.hasEnded)
  await deps.webhooks.changed(tx, next, events, audience, nowMs)
  await notifyCallChange(tx, call)
  return [...applied.refused]
}

/**
 * Stores callbacks. A new promise replaces the session's earlier callbacks. Returns events for the replaced callbacks.
 */
async function storeCallbacks(tx: Tx, { eventId }: AppendDeps, { callbacks }: Applied): Promise<CallEvent[]> {
  const events: CallEvent[] = []
  for (const { callback, event } of callbacks)
    for (const id of await insertPromised(tx, callback))
      events.push({
        ...event,
        id: eventId(),
        type: 'callback.cancelled',
        payload: { callback_id: id, reason: 'replaced' },
      })
  return events
}

/**
 * Stores the call report if the call has ended. If the call never connected, its recording gets the status suppressed.
 */
async function closed(
  tx: Tx,
  { call, hasEnded }: Applied,
  audience: ReadAudience,
  nowMs: number,
): Promise<{ next: Call; types: CallEvent['type'][] }> {
  if (!hasEnded) return { next: call, types: [] }
  const types: CallEvent['type'][] = []
  const isUnrecorded = call.startedAtMs === null && call.recordingStatus === null
  const next: Call = isUnrecorded ? { ...call, recordingStatus: 'suppressed' } : call
  if (isUnrecorded) types.push('recording.suppressed')
  // If no person joined the session, there is no call report.
  if (call.endReason !== 'not_joined') {
    const hasCallback = isPromised(await lastCallbackOf(tx, call))
    const isTransferred = await hasCompletedTransfer(tx, call)
    types.push(await insertFirstReport(tx, call, await audience(), { hasCallback, isTransferred }, nowMs))
  }
  return { next, types }
}

function closingEvent(deps: AppendDeps, type: CallEvent['type'], status: CallStatus, occurredAtMs: number): CallEvent {
  return { id: deps.eventId(), provider: 'service', type, status, failureCause: null, occurredAtMs, payload: {} }
}

async function update(tx: Tx, call: Call, hasEnded: boolean): Promise<void> {
  await tx`
    update calls set status = ${call.status}, updated_at = ${new Date(call.updatedAtMs)},
      started_at = ${dateOrNull(call.startedAtMs)}, ended_at = ${dateOrNull(call.endedAtMs)}, end_reason = ${call.endReason},
      recording_status = ${call.recordingStatus}, recording_duration_ms = ${call.recordingDurationMs},
      owner_id = ${call.ownerId}${hasEnded ? tx`, sealed = null, sealed_by = null` : tx``}
    ${ofCall(tx, call, call.id)}`
}
