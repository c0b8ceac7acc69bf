/**
 * With random events a callback changes its state only as the state table allows, and each attempt to place it has its
 * scheduled time.
 */
import t from 'tap'
import { cancelled, claimed, leased, leaseMs, type Placing, settled } from '../../domain/callbacks/moves.ts'
import type { Callback } from '../../domain/records/callback.ts'
import { callbackStatuses, mayMove } from '../../domain/records/states/callback.ts'
import { fc } from '../random.ts'
import { hourMs, minuteMs, someCallback, wanted } from './callback.ts'

const placed: Placing = { sessionId: 'session', phoneNumberId: 'pn_1', fromNumber: '+12025550143' }
const failures = ['carrier_error', 'insufficient_credits', 'concurrency', 'no_phone_number'] as const
const dueMs = wanted.scheduledAtMs

const result = fc.constantFrom('placed', 'died', ...failures, ...failures)
const ms = fc.oneof(fc.integer({ min: 0, max: 2 * minuteMs }), fc.integer({ min: 0, max: 90 * minuteMs }))
/** Events that end a run, and long waits, are drawn rarely, because otherwise most runs would be short. */
const event = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('dispatch' as const), result }) },
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('look' as const), result }) },
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('waitUntilDue' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms }) },
)

t.test('with random events a callback changes state only as the table allows, and never after a final state', (t) => {
  const ends = new Set<string>()
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 60 }), (events) => {
      let nowMs = dueMs - hourMs
      let callback = someCallback()
      const history: Callback[] = [callback]
      const move = (next: Callback) => {
        if (!mayMove(callback.status, next.status)) throw new Error(`${callback.status} to ${next.status}`)
        callback = next
        history.push(next)
      }
      const attempt = (result: string, isDue: boolean) => {
        if (callback.status !== 'dispatching' || result === 'died') return
        const placing = result === 'placed' ? placed : { failure: failures.find((each) => each === result)! }
        move(settled(callback, placing, isDue, nowMs))
      }
      for (const each of events) {
        const isScheduled = callback.status === 'scheduled'
        if (each.kind === 'wait') nowMs += each.ms
        else if (each.kind === 'waitUntilDue') nowMs = Math.max(nowMs, callback.nextTryAtMs)
        else if (each.kind === 'cancel' && isScheduled) move(cancelled(callback, nowMs))
        else if (each.kind === 'dispatch' && isScheduled) {
          move(leased(callback, 'lease', nowMs))
          attempt(each.result, false)
        } else if (each.kind === 'look') {
          const isLapsed = callback.lease !== null && callback.lease.untilMs <= nowMs
          if (!isLapsed && !(isScheduled && callback.nextTryAtMs <= nowMs)) continue
          move(claimed(callback, 'lease', nowMs))
          attempt(each.result, true)
        }
        if (callback.tries > 4) throw new Error(`${callback.tries} tries`)
        const isOver = callback.status !== 'dispatching' && callback.status !== 'scheduled'
        if ((callback.status === 'dispatching' && callback.lease === null) || (isOver && callback.lease !== null))
          throw new Error('an attempt without a lease, or a lease without an attempt')
      }
      const isOver = ({ status }: Callback) => ['dispatched', 'failed', 'cancelled'].includes(status)
      const firstEnd = history.findIndex(isOver)
      if (firstEnd >= 0 && firstEnd !== history.length - 1) throw new Error('a move after the end')
      if (callback.status === 'failed' && callback.failureCause === null) throw new Error('a failure without a cause')
      if (callback.status === 'dispatched' && callback.createdSessionId === null) throw new Error('no session')
      if (isOver(callback)) ends.add(`${callback.status} ${callback.failureCause ?? ''}`)
    }),
    { numRuns: 3000 },
  )
  for (const end of ['dispatched ', 'cancelled ', 'failed missed', 'failed no_phone_number', 'failed carrier_error'])
    t.ok(ends.has(end), `the runs reach ${end}`)
  t.end()
})

t.test('a callback that is dispatched, cancelled or failed never changes its state again', (t) => {
  for (const end of ['dispatched', 'cancelled', 'failed'] as const) {
    for (const to of callbackStatuses) t.equal(mayMove(end, to), false, `${end} to ${to}`)
    t.throws(() => cancelled(someCallback({ status: end }), 0), `${end} cannot be cancelled`)
  }
  t.throws(() => cancelled(leased(someCallback(), 'lease', 0), 0), 'nor can one that is being placed')
  t.end()
})

t.test('a callback is tried at its scheduled time, and 1, 5 and 15 minutes later', (t) => {
  let callback = someCallback()
  const tries: number[] = []
  while (callback.status === 'scheduled') {
    const nowMs = callback.nextTryAtMs
    tries.push((nowMs - dueMs) / minuteMs)
    // The attempt takes 5 s, but this does not move the next attempt.
    callback = settled(claimed(callback, 'lease', nowMs), { failure: 'concurrency' }, true, nowMs + 5000)
  }
  t.same(tries, [0, 1, 5, 15])
  t.match(callback, { status: 'failed', failureCause: 'concurrency', tries: 4, attemptedAtMs: dueMs + 15 * minuteMs })
  t.end()
})

t.test('a callback that is more than an hour late fails as missed', (t) => {
  t.match(claimed(someCallback(), 'lease', dueMs + hourMs), { status: 'dispatching' })
  t.match(claimed(someCallback(), 'lease', dueMs + hourMs + 1), {
    status: 'failed',
    failureCause: 'missed',
    lease: null,
  })
  const late = settled(
    claimed(someCallback(), 'lease', dueMs + hourMs),
    { failure: 'carrier_error' },
    true,
    dueMs + hourMs,
  )
  t.match(late, { status: 'failed', failureCause: 'carrier_error' }, 'no try is planned that would be too late')
  const first = settled(
    claimed(someCallback(), 'lease', dueMs + 59 * minuteMs),
    { failure: 'carrier_error' },
    true,
    dueMs + 59 * minuteMs,
  )
  t.match(first, { status: 'scheduled', nextTryAtMs: dueMs + hourMs })
  t.end()
})

t.test('if a process dies while it dispatches a callback early, the callback is scheduled again', (t) => {
  const early = leased(someCallback(), 'lease', dueMs - hourMs)
  t.match(early, { lease: { id: 'lease', untilMs: dueMs - hourMs + leaseMs }, tries: 0 })
  const back = claimed(early, 'next', dueMs - hourMs + leaseMs)
  t.match(back, { status: 'scheduled', tries: 0, nextTryAtMs: dueMs })
  t.match(claimed(back, 'next', dueMs), { status: 'dispatching', lease: { id: 'lease' } }, 'maybe the call was placed')
  const failed = settled(early, { failure: 'no_phone_number' }, false, dueMs - hourMs)
  t.match(failed, { status: 'scheduled', nextTryAtMs: dueMs, tries: 0, failureCause: 'no_phone_number' })
  t.end()
})

t.test('a callback fails after four processes have died while placing it', (t) => {
  let callback = someCallback()
  let nowMs = dueMs
  for (let tries = 1; tries <= 4; tries++, nowMs += leaseMs) {
    callback = claimed(callback, `lease ${tries}`, nowMs)
    t.match(callback, { status: 'dispatching', tries })
  }
  t.match(claimed(callback, 'lease', nowMs), { status: 'failed', failureCause: 'carrier_error' })
  t.end()
})
