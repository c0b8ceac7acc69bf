/**
 * The event of the line beside that of a recording which has ended. Recordings are made here, of the audio of the line: no
 * carrier makes one.
 */
import type { CallEvent, EventType, RecordingStatus } from './call.ts'

const types: Readonly<Partial<Record<RecordingStatus, EventType>>> = {
  ready: 'carrier.recording_saved',
  failed: 'carrier.recording_failed',
}

/** Comes 1 ms after `event`, which is that of the recording. Nothing where the recording has not ended. */
export function lineEventOf(event: CallEvent, status: RecordingStatus, id: string): { lineEvent?: CallEvent } {
  const type = types[status]
  return type === undefined ? {} : { lineEvent: { ...event, id, type, occurredAtMs: event.occurredAtMs + 1 } }
}
