/** Call legs if a phone line fails, answers too late, or sends its events in another order. */
import t from 'tap'
import { PhoneLineError } from '../../domain/ports/phone-line.ts'
import { Fault } from '../../domain/records/fault.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import { settled } from '../clock.ts'
import { carrierLegId, fails, hangup, incoming, openDesk } from './desk.ts'

const notDialed = { kind: 'not_dialed', why: 'unanswered', sessionId: 'call_1' } as const

t.test('a call to a disabled organization is rejected', async (t) => {
  const desk = openDesk()
  desk.organization.isDisabled = true
  await desk.happens(incoming)
  await desk.passes()
  t.strictSame(desk.commands, ['reject 404'])
  t.equal(desk.call(), undefined)
  desk.organization.isDisabled = false
  await desk.happens(incoming)
  await desk.passes()
  t.ok(desk.call())
})

t.test('if refusing a call fails, its caller is hung up', async (t) => {
  const desk = openDesk()
  desk.isReady = false
  desk.steps.reject = fails(new PhoneLineError('unreachable'))
  await desk.happens(incoming)
  await desk.passes()
  t.strictSame(desk.commands, ['reject 480', `hangUp ${carrierLegId}`])
  t.strictSame(desk.ends(), ['failed not_ready 480'])
  t.type(desk.leg()?.endedAtMs, 'number')
})

t.test('if refusal and hang-up of a leg both fail, the leg stays open for the search for orphaned legs', async (t) => {
  const desk = openDesk()
  desk.isReady = false
  desk.steps.reject = fails(new PhoneLineError('unreachable'))
  desk.steps.hangUp = fails(new PhoneLineError('unreachable'))
  await desk.happens(incoming)
  await desk.passes()
  t.equal(desk.leg()?.endedAtMs, null)
})

t.test('a call is refused as busy only at a limit of simultaneous calls', async (t) => {
  const cases = [
    [new Fault({ kind: 'too_many_at_once', limit: 'organization' }), 'reject 486', 'failed concurrency_exhausted 486'],
    [new Fault({ kind: 'overloaded' }), 'reject 486', 'failed concurrency_exhausted 486'],
    [new Fault({ kind: 'store_unreachable' }), `hangUp ${carrierLegId}`, 'failed pipeline_failed -'],
    [new Error('a defect'), `hangUp ${carrierLegId}`, 'failed pipeline_failed -'],
  ] as const
  for (const [error, command, end] of cases) {
    const desk = openDesk()
    desk.steps.take = fails(error)
    await desk.happens(incoming)
    await desk.passes()
    t.strictSame(desk.commands, [command], error.message)
    t.strictSame(desk.ends(), [end], error.message)
  }
})

t.test('if the caller leaves before the answer, the call is cancelled', async (t) => {
  const desk = openDesk()
  desk.steps.answer = fails(new PhoneLineError('refused', { isGone: true }))
  await desk.happens(incoming)
  await desk.passes()
  t.strictSame(desk.ends(), ['cancelled user_hangup -'])
  t.strictSame(desk.commands, ['answer'], 'a leg that is gone is not hung up')
})

t.test('if the caller leaves between the answer and the start of the stream, the call is cancelled', async (t) => {
  const desk = openDesk()
  await desk.happens(incoming)
  await desk.passes()
  await desk.happens({ type: 'answered' })
  await desk.happens(hangup)
  await desk.passes()
  t.strictSame(desk.ends(), ['cancelled user_hangup -'])
})

t.test('if the carrier does not answer a command for a call, the call fails', async (t) => {
  const desk = openDesk()
  desk.steps.answer = fails(new PhoneLineError('timeout'))
  await desk.happens(incoming)
  await desk.passes()
  t.strictSame(desk.ends(), ['failed carrier_error -'])
  t.strictSame(desk.commands, ['answer', `hangUp ${carrierLegId}`])
})

t.test('if the caller leaves before the call is stored, the call is cancelled', async (t) => {
  const desk = openDesk()
  let store = () => {}
  const waiting = new Promise<void>((resolve) => {
    store = resolve
  })
  desk.steps.store = () => waiting
  const announced = desk.happens(incoming)
  await desk.happens(hangup)
  store()
  await announced
  await desk.passes()
  await desk.clock.advance(10_000)
  t.same(desk.ignored, [], 'the call has taken the event')
  t.strictSame(desk.ends(), ['cancelled user_hangup -'])
  t.strictSame(desk.commands, [], 'nobody is answered')
})

t.test("a hang-up event is dropped if its call's first event does not arrive within 10 s", async (t) => {
  const desk = openDesk()
  await desk.happens(hangup)
  t.same(desk.ignored, [], 'a call may still take it')
  await desk.clock.advance(10_000)
  t.same(desk.ignored, [['simulator', 'unknown_leg']])
  await desk.happens(incoming)
  await desk.passes()
  t.strictSame(desk.commands, ['answer'])
})

t.test('an event of an unknown leg is dropped and counted', async (t) => {
  const desk = openDesk()
  await desk.happens({ type: 'answered' })
  await desk.happens({ type: 'dtmf', digit: '1' }, 'leg_other')
  t.same(desk.ignored, [
    ['simulator', 'unknown_leg'],
    ['simulator', 'unknown_leg'],
  ])
  t.equal(desk.call(), undefined)
})

t.test('if the carrier did not answer the dial command, the leg is hung up once an event has its id', async (t) => {
  const desk = openDesk()
  desk.steps.dial = fails(new PhoneLineError('timeout'))
  await t.rejects(desk.dialled(), new ResourceFault(notDialed))
  t.strictSame(desk.ends(), ['failed carrier_error -'])
  await desk.happens({ type: 'ringing' }, desk.leg()?.id)
  await desk.passes()
  t.strictSame(desk.commands, [`hangUp ${carrierLegId}`])
  t.match(desk.leg(), { carrierLegId, endedAtMs: Number })
})

t.test('a leg whose id the carrier reports long after the call failed is hung up', async (t) => {
  const desk = openDesk()
  desk.steps.dial = fails(new PhoneLineError('timeout'))
  await t.rejects(desk.dialled())
  await desk.clock.advance(60_000)
  desk.steps.hangUp = fails(new PhoneLineError('unreachable'))
  const event = desk.eventOf({ type: 'ringing' }, desk.leg()?.id ?? null)
  await t.rejects(desk.received(event), /overloaded/, 'the line repeats the event')
  desk.steps.hangUp = () => Promise.resolve()
  await desk.received(event)
  t.strictSame(desk.commands, [`hangUp ${carrierLegId}`, `hangUp ${carrierLegId}`])
  t.match(desk.leg(), { carrierLegId })
  await desk.happens({ type: 'answered' }, desk.leg()?.id)
  t.equal(desk.commands.length, 2, 'a leg that was hung up is left alone')
})

t.test("an event that arrives before the carrier answers the dial command sets the leg's id", async (t) => {
  const desk = openDesk()
  let answer = () => {}
  const waiting = new Promise<void>((resolve) => {
    answer = resolve
  })
  desk.steps.dial = () => waiting
  const dialling = desk.dial()
  while (desk.dialling.length === 0) await settled()
  await desk.happens({ type: 'ringing' }, desk.leg()?.id)
  t.match(desk.leg(), { carrierLegId })
  answer()
  await desk.passes()
  await dialling
  t.equal(desk.call()?.status, 'ringing')
})

t.test("the dial command limits a call to four hours, even if the agent's limit is shorter", async (t) => {
  for (const maxDurationSeconds of [30, 3600]) {
    const desk = openDesk()
    await desk.dialled({ maxDurationSeconds })
    // The phone line's time limit is the same for each call, because it also applies after two people were connected,
    // and people may talk longer than an agent may.
    t.equal(desk.dialling[0]?.timeLimitS, 14_400)
  }
})

t.test('an event that a process stored, and reads again from the database, is applied once', async (t) => {
  const desk = openDesk()
  let commit = () => {}
  const committing = new Promise<void>((resolve) => {
    commit = resolve
  })
  desk.steps.commit = () => committing
  const announced = desk.happens(incoming)
  await settled()
  // The call's row exists, but this process has not opened the call yet.
  desk.steps.send = () => announced
  const event = desk.eventOf({ type: 'bridged' })
  const passed = desk.received(event)
  await settled()
  commit()
  await passed
  await desk.received(event)
  desk.phones.take(desk.leg()?.id ?? '', 'simulator', event)
  await desk.passes()
  t.equal(desk.eventTypes().filter((type) => type === 'carrier.bridged').length, 1)
})

t.test('if the stream is lost before the conversation begins, the call ends', async (t) => {
  const desk = openDesk()
  let reply = () => {}
  const waiting = new Promise<void>((resolve) => {
    reply = resolve
  })
  desk.steps.askBefore = () => waiting
  await desk.dialled()
  const sink = desk.join()
  sink.gone()
  await desk.passes()
  t.strictSame(desk.ends(), ['failed carrier_error -'])
  reply()
  await desk.passes()
  t.equal(desk.begun.length, 0)
  t.strictSame(desk.commands, [`hangUp ${carrierLegId}`])
})

t.test('if a person hangs up while the conversation waits for its settings, the call counts as answered', async (t) => {
  for (const isSaid of [true, false]) {
    const desk = openDesk()
    desk.steps.askBefore = () => new Promise(() => {})
    await desk.dialled()
    const sink = desk.join()
    // The answer event is late or lost, and the end event may be lost too.
    if (isSaid) await desk.happens(hangup, desk.leg()?.id)
    else desk.isAlive = false
    sink.gone()
    await desk.passes()
    t.strictSame(desk.ends(), ['completed user_hangup -'])
    t.type(desk.leg()?.answeredAtMs, 'number')
  }
})

t.test('a call does not end if its answer event arrives after the start of the audio stream', async (t) => {
  const desk = openDesk()
  desk.steps.askBefore = () => new Promise(() => {})
  await desk.dialled()
  desk.join()
  await desk.happens({ type: 'answered' }, desk.leg()?.id)
  await desk.clock.advance(20_000)
  t.strictSame(desk.ends(), [])
})

t.test('a leg counts as dialled after an event with its id, even if the dial command is answered late', async (t) => {
  const desk = openDesk()
  desk.steps.dial = () => new Promise(() => {})
  const dialling = desk.dial()
  while (desk.dialling.length === 0) await settled()
  await desk.happens({ type: 'ringing' }, desk.leg()?.id)
  await desk.clock.advance(6_000)
  await dialling
  t.equal(desk.call()?.status, 'ringing')
  t.strictSame(desk.commands, [])
  await desk.clock.advance(61_000)
  t.strictSame(desk.ends(), ['no_answer no_answer -'], 'the phone rings as long as it may')
})

t.test('if the audio stream of a leg arrives before any event, the leg gets its id from the stream', async (t) => {
  const desk = openDesk()
  desk.steps.dial = () => new Promise(() => {})
  const dialling = desk.dial()
  while (desk.dialling.length === 0) await settled()
  desk.join(carrierLegId)
  await desk.clock.advance(6_000)
  await dialling
  t.match(desk.leg(), { carrierLegId, answeredAtMs: Number })
  t.strictSame([desk.commands, desk.ends()], [[], []], 'they talk')
})

t.test('if the audio stream of a leg begins after its call has failed, the leg is hung up', async (t) => {
  const desk = openDesk()
  desk.steps.dial = fails(new PhoneLineError('timeout'))
  await t.rejects(desk.dialled(), new ResourceFault(notDialed))
  await desk.clock.advance(60_000)
  desk.join(carrierLegId)
  await desk.passes()
  t.strictSame(desk.commands, [`hangUp ${carrierLegId}`])
  t.match(desk.leg(), { carrierLegId, endedAtMs: Number })
})

t.test('some time after a call has failed, the URL of its audio stream is refused', async (t) => {
  const desk = openDesk()
  desk.steps.dial = fails(new PhoneLineError('timeout'))
  await t.rejects(desk.dialled())
  await desk.clock.advance(130_000)
  t.throws(() => desk.join(carrierLegId), 'no leg is expected')
})

t.test('a leg without a process is hung up only if it had no process at the previous check either', async (t) => {
  const desk = openDesk()
  await desk.dialled()
  // After a database outage each process looks dead until it renews its row, so one check is not enough.
  desk.isOrphaned = true
  await desk.phones.hangUpOrphans()
  desk.isOrphaned = false
  await desk.phones.hangUpOrphans()
  desk.isOrphaned = true
  await desk.phones.hangUpOrphans()
  t.strictSame(desk.commands, [])
  await desk.phones.hangUpOrphans()
  t.strictSame(desk.commands, [`hangUp ${carrierLegId}`])
})

t.test('a leg whose carrier id and events are lost is found by our id, and hung up', async (t) => {
  const desk = openDesk()
  desk.steps.dial = fails(new PhoneLineError('timeout'))
  await t.rejects(desk.dialled(), new ResourceFault(notDialed))
  desk.isDialled = true
  desk.isOrphaned = true
  await desk.phones.hangUpOrphans()
  await desk.phones.hangUpOrphans()
  await settled()
  t.strictSame(desk.commands, [`hangUp ${carrierLegId}`])
  t.match(desk.leg(), { endedAtMs: Number })
})

t.test('if the end event is lost, the call ends as soon as the carrier reports that the leg has ended', async (t) => {
  const desk = openDesk()
  await desk.dialled()
  await desk.phones.lookAtUnattended()
  t.equal(desk.leg()?.endedAtMs, null)
  desk.isAlive = false
  await desk.phones.lookAtUnattended()
  await settled()
  t.type(desk.leg()?.endedAtMs, 'number')
  t.strictSame(desk.commands, [])
})
