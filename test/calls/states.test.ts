/** The state table of calls agrees with the contract: every status change, and every end reason in every status. */
import t from 'tap'
import {
  type CallStatus,
  callStatuses,
  type EndReason,
  endReasons,
  endStatus,
  isTerminal,
  mayMove,
} from '../../domain/records/states/call.ts'
import { platformContract } from '../../generated/platform/contract.ts'

const moves: Partial<Record<CallStatus, CallStatus[]>> = {
  queued: ['dialing', 'ringing', 'in_progress', 'cancelled', 'failed'],
  dialing: ['ringing', 'in_progress', 'busy', 'no_answer', 'voicemail', 'cancelled', 'failed'],
  ringing: ['in_progress', 'busy', 'no_answer', 'voicemail', 'cancelled', 'failed'],
  in_progress: ['transferring', 'voicemail', 'completed', 'failed'],
  transferring: ['in_progress', 'completed', 'failed'],
}
const terminal: CallStatus[] = ['completed', 'failed', 'busy', 'no_answer', 'cancelled', 'voicemail']

t.test('a call may change from one status to another only if the table allows the change', (t) => {
  for (const from of callStatuses)
    for (const to of callStatuses) t.equal(mayMove(from, to), moves[from]?.includes(to) ?? false, `${from} → ${to}`)
  t.same(callStatuses.filter(isTerminal), terminal)
  t.end()
})

type Contract = { components: { schemas: { EndReason: { description: string; enum: (string | null)[] } } } }

/**
 * The contract's status for each end reason, for a connected call and for a queued call. Null means that such a call
 * cannot end for this reason.
 */
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

t.test('every end reason leads to its status, for a connected and for a queued call', (t) => {
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

t.test('the contract describes each end reason once, with the statuses of the table', (t) => {
  const { EndReason: described } = (JSON.parse(platformContract) as Contract).components.schemas
  const rows = [...described.description.matchAll(/^\| `(\w+)` \| ([\w, ]+) \| (.+) \|$/gm)]
  const before = (reason: EndReason) =>
    (['queued', 'dialing'] as const).map((from) => endStatus(from, reason)).find((status) => status !== null) ?? null
  const statusOf = (reason: EndReason) => {
    const [connected, first] = [endStatus('in_progress', reason), before(reason)]
    if (first === null || first === connected) return connected
    return connected === null ? `before ${first}` : `${connected}, before ${first}`
  }
  t.same(
    rows.map(([, reason, status]) => [reason, status]),
    endReasons.map((reason) => [reason, statusOf(reason)]),
  )
  t.ok(rows.every(([, , , meaning = '']) => /^[A-Z`].*\.$/.test(meaning)))
  t.same(described.enum, endReasons)
  t.end()
})
