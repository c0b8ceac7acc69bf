/**
 * Writes a live conversation's record. A write never waits for the database and never fails: entries stay in order in
 * memory until they are stored (`domain/calls/journal.ts`). So a conversation goes on if the database is unreachable.
 */
import type { EventType, RecordingStatus, Span, Turn } from '../../records/call.ts'
import type { CallbackRequest } from '../../records/callback.ts'
import type { EndReason } from '../../records/states/call.ts'

export interface CallLog {
  /** Records that the caller is connected, so the call is in progress. */
  connected(): void
  event(type: EventType, payload: Record<string, unknown>): void
  /**
   * Records the callback that the agent has promised to the caller. It replaces a callback promised earlier in this
   * call.
   */
  callback(request: CallbackRequest): void
  turn(turn: Turn): void
  span(span: Span): void
  recording(status: RecordingStatus, durationMs: number | null): void
  /** Records the call's end: status, event and report. Resolves when all three are stored. */
  ended(reason: EndReason, clientReason?: string): Promise<void>
}

/**
 * Logs the call's room: it was opened, and the caller and the agent joined it. `identity` is the caller's participant
 * name in the room.
 */
export function roomOpened(log: Pick<CallLog, 'event'>, identity: string): void {
  log.event('room.created', {})
  log.event('room.participant_joined', { identity })
  log.event('room.agent_joined', {})
}

/** Logs the end of the call's room. `hasAgent` is false if the agent left before the caller. */
export function roomClosed(log: Pick<CallLog, 'event'>, identity: string, hasAgent: boolean): void {
  log.event('room.participant_left', { identity })
  if (hasAgent) log.event('room.agent_left', {})
  log.event('room.closed', {})
}
