/** Entries that move a stored call to another status, at a time in milliseconds. */
import type { CallEntry } from '../../domain/records/call.ts'
import { newEvent } from './call.ts'

/** The call is connected. */
export const connected = (ms: number): CallEntry => ({
  kind: 'move',
  event: newEvent('call.in_progress', { occurredAtMs: ms }),
  to: 'in_progress',
  change: { startedAtMs: ms },
})
/** The caller hangs up. */
export const completed = (ms: number): CallEntry => ({
  kind: 'move',
  event: newEvent('call.completed', { occurredAtMs: ms }),
  to: 'completed',
  change: { endedAtMs: ms, endReason: 'user_hangup' },
})
