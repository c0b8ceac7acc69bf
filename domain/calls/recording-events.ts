/**
 * Adds a `carrier` event when a recording ends. This server records the call's audio, so no carrier sends such an
 * event.
 */
import type { CallEntry, CallEvent, EventType, RecordingStatus } from '../records/call.ts'

const types: Readonly<Partial<Record<RecordingStatus, EventType>>> = {
  ready: 'carrier.recording_saved',
  failed: 'carrier.recording_failed',
}

type RecordingEntry = Extract<CallEntry, { kind: 'recording' }>

/**
 * Returns the `carrier` event for a recording's end. Its time is 1 ms after `event`, the recording's event. Returns an
 * empty array if the recording has not ended.
 */
export function lineEventsOf({ status, lineEventId: id }: RecordingEntry, event: CallEvent): CallEvent[] {
  const type = types[status]
  if (type === undefined || id === undefined) return []
  return [{ ...event, id, type, occurredAtMs: event.occurredAtMs + 1 }]
}
