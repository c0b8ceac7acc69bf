/**
 * Applies a batch of entries to a stored call. The store locks the call's row meanwhile, so changes from several
 * processes follow one another, and each change is checked against the current status.
 */
import type { Call, CallEntry, CallEvent, RecordingStatus, Span, Turn } from '../records/call.ts'
import type { Callback } from '../records/callback.ts'
import { isTerminal, mayMove } from '../records/states/call.ts'
import type { Transfer } from '../records/transfer.ts'
import { lineEventsOf } from './recording-events.ts'

export type Applied = {
  /** The call with all accepted entries applied. */
  call: Call
  events: readonly CallEvent[]
  turns: readonly Turn[]
  spans: readonly Span[]
  callbacks: readonly { callback: Callback; event: CallEvent }[]
  /** Transfer attempts in the order in which they changed. */
  transfers: readonly Transfer[]
  /** True if these entries ended the call. */
  hasEnded: boolean
  /** Entries that the state rules forbid. Such an entry changes nothing, and its event is not stored. */
  refused: readonly CallEntry[]
}

/** `isStored` returns true if an earlier write stored the event. The event's entry is then skipped. */
export function applyEntries(
  call: Call,
  entries: readonly CallEntry[],
  isStored: (eventId: string) => boolean,
  nowMs: number,
): Applied {
  let next: Call = { ...call, updatedAtMs: Math.max(call.updatedAtMs, nowMs) }
  const events: CallEvent[] = []
  const turns: Turn[] = []
  const spans: Span[] = []
  const callbacks: { callback: Callback; event: CallEvent }[] = []
  const transfers: Transfer[] = []
  const refused: CallEntry[] = []
  const lastStored = entries.findLastIndex((entry) => 'event' in entry && isStored(entry.event.id))
  for (const [at, entry] of entries.entries()) {
    if (entry.kind === 'turn') turns.push(entry.turn)
    else if (entry.kind === 'span') spans.push(entry.span)
    else if (!isStored(entry.event.id)) {
      // If a later entry is stored already, an earlier write has refused this entry. The entry stays refused, even if
      // the status would allow it now.
      const changed = at < lastStored ? null : changedBy(next, entry)
      if (changed === null) {
        refused.push(entry)
        continue
      }
      next = changed
      const event = { ...entry.event, status: next.status }
      events.push(event)
      if (entry.kind === 'recording' && call.phone !== null) events.push(...lineEventsOf(entry, event))
      if (entry.kind === 'callback') callbacks.push({ callback: entry.callback, event })
      if (entry.kind === 'transfer') transfers.push(entry.transfer)
    }
  }
  const hasEnded = isTerminal(next.status) && !isTerminal(call.status)
  return { call: next, events, turns, spans, callbacks, transfers, hasEnded, refused }
}

/** Returns the call with the entry applied, or null if the state rules forbid the entry. */
function changedBy(call: Call, entry: Exclude<CallEntry, { kind: 'turn' | 'span' }>): Call | null {
  switch (entry.kind) {
    case 'event':
    case 'callback':
    case 'transfer':
      return call
    case 'move':
      return mayMove(call.status, entry.to) ? { ...call, ...entry.change, status: entry.to } : null
    case 'recording':
      if (!recordingMoves[call.recordingStatus ?? 'none'].includes(entry.status)) return null
      return {
        ...call,
        recordingStatus: entry.status,
        recordingDurationMs: entry.durationMs ?? call.recordingDurationMs,
      }
  }
}

const recordingMoves: Readonly<Record<RecordingStatus | 'none', readonly RecordingStatus[]>> = {
  none: ['recording', 'suppressed', 'failed'],
  recording: ['uploading', 'ready', 'failed'],
  uploading: ['ready', 'failed'],
  ready: [],
  failed: [],
  suppressed: [],
}
