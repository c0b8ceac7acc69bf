/** The state table of a call, beside the contract: every move, and every reason for an end in every status. */
import t from 'tap'
import {
  type CallStatus,
  callStatuses,
  type EndReason,
  endReasons,
  endStatus,
  isTerminal,
  mayMove,
} from '../../domain/calls/states.ts'

const moves: Partial<Record<CallStatus, CallStatus[]>> = {
  queued: ['dialing', 'in_progress', 'cancelled', 'failed'],
  dialing: ['ringing', 'in_progress', 'busy', 'no_answer', 'voicemail', 'cancelled', 'failed'],
  ringing: ['in_progress', 'busy', 'no_answer', 'voicemail', 'cancelled', 'failed'],
  in_progress: ['transferring', 'voicemail', 'completed', 'failed'],
  transferring: ['in_progress', 'completed', 'failed'],
}
const terminal: CallStatus[] = ['completed', 'failed', 'busy', 'no_answer', 'cancelled', 'voicemail']

t.test('every pair of statuses', (t) => {
  for (const from of callStatuses)
    for (const to of callStatuses) t.equal(mayMove(from, to), moves[from]?.includes(to) ?? false, `${from} → ${to}`)
  t.same(callStatuses.filter(isTerminal), terminal)
  t.end()
})

/** The status that the contract names for a reason, once the call is connected and before; null: it has none. */
const ends: Record<EndReason, [connected: CallStatus | null, queued: CallStatus | null]> = {
  user_hangup: ['completed', 'cancelled'],
  user_disconnected: ['completed', null],
  agent_hangup: ['completed', null],
  api_ended: ['completed', 'cancelled'],
  transferred: ['completed', null],
  silence_timeout: ['completed', null],
  max_duration: ['completed', null],
  voicemail: ['voicemail', null],
  busy: [null, null],
  no_answer: [null, null],
  not_joined: [null, 'cancelled'],
  cancelled: [null, 'cancelled'],
  credit_exhausted: ['completed', 'failed'],
  pipeline_failed: ['failed', 'failed'],
  worker_lost: ['failed', 'failed'],
  server_shutdown: ['failed', 'failed'],
  concurrency_exhausted: ['failed', 'failed'],
  not_ready: ['failed', 'failed'],
  declined: ['failed', 'failed'],
  invalid_number: ['failed', 'failed'],
  carrier_error: ['failed', 'failed'],
}

t.test('every reason for an end', (t) => {
  t.same([...endReasons].sort(), Object.keys(ends).sort())
  for (const reason of endReasons) {
    const [connected, queued] = ends[reason]
    t.equal(endStatus('in_progress', reason), connected, `${reason} once connected`)
    t.equal(endStatus('queued', reason), queued, `${reason} before`)
    for (const status of terminal) t.equal(endStatus(status, reason), null, `${reason} after ${status}`)
  }
  t.equal(endStatus('dialing', 'busy'), 'busy')
  t.equal(endStatus('ringing', 'no_answer'), 'no_answer')
  t.equal(endStatus('dialing', 'voicemail'), 'voicemail')
  t.equal(endStatus('transferring', 'transferred'), 'completed')
  t.equal(endStatus('transferring', 'voicemail'), null, 'the table has no such move')
  t.end()
})
