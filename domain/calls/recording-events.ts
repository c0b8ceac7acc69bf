/**
 * The event of the line beside that of a recording which has ended. Recordings are made here, of the audio of the line: no
 * carrier makes one.
 */
import type { CallEntry, CallEvent, EventType, RecordingStatus } from '../records/call.ts'

const types: Readonly<Partial<Record<RecordingStatus, EventType>>> = {
  ready: 'carrier.recording_saved',
  failed: 'carrier.recording_failed',
}

type RecordingEntry = Extract<CallEntry, { kind: 'recording' }>

/** Comes 1 ms after `event`, which is that of the recording. None where the recording has not ended. */
export function lineEventsOf({ status, lineEventId: id }: RecordingEntry, event: CallEvent): CallEvent[] {
  const type = types[status]
  if (type === undefined || id === undefined) return []
  return [{ ...event, id, type, occurredAtMs: event.occurredAtMs + 1 }]
}
