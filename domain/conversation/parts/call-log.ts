/**
 * The record that a live conversation writes. A write never waits for the database and never fails: entries are kept in
 * order until they are stored (`domain/calls/journal.ts`), so that a conversation goes on while the database is away.
 */
import type { EventType, RecordingStatus, Span, Turn } from '../../records/call.ts'
import type { WantedCallback } from '../../records/callback.ts'
import type { EndReason } from '../../records/states/call.ts'

export interface CallLog {
  /** The caller is connected: the call is in progress. */
  connected(): void
  event(type: EventType, payload: Record<string, unknown>): void
  /** The agent has promised to call again. It replaces what was promised before in this call. */
  callback(wanted: WantedCallback): void
  turn(turn: Turn): void
  span(span: Span): void
  recording(status: RecordingStatus, durationMs: number | null): void
  /** The end of the call, with its status, its event and its report. Resolves when all of it is stored. */
  ended(reason: EndReason, clientReason?: string): Promise<void>
}

/** The caller, of this identity, meets the agent. */
export function roomOpened(log: Pick<CallLog, 'event'>, identity: string): void {
  log.event('room.created', {})
  log.event('room.participant_joined', { identity })
  log.event('room.agent_joined', {})
}

/** `hasAgent`: the agent has not left before the caller. */
export function roomClosed(log: Pick<CallLog, 'event'>, identity: string, hasAgent: boolean): void {
  log.event('room.participant_left', { identity })
  if (hasAgent) log.event('room.agent_left', {})
  log.event('room.closed', {})
}
