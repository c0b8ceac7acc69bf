/**
 * Adds a line event to a recording's end. Recordings are made here from the line's audio. No carrier records, so no
 * carrier sends this event.
 */
import type { CallEntry, CallEvent, EventType, RecordingStatus } from '../records/call.ts'

const types: Readonly<Partial<Record<RecordingStatus, EventType>>> = {
  ready: 'carrier.recording_saved',
  failed: 'carrier.recording_failed',
}

type RecordingEntry = Extract<CallEntry, { kind: 'recording' }>

/** The line event comes 1 ms after `event`, the recording's event. Empty if the recording has not ended. */
export function lineEventsOf({ status, lineEventId: id }: RecordingEntry, event: CallEvent): CallEvent[] {
  const type = types[status]
  if (type === undefined || id === undefined) return []
  return [{ ...event, id, type, occurredAtMs: event.occurredAtMs + 1 }]
}
