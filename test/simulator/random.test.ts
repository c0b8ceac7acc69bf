/**
 * Runs random carrier commands in random order: no response may be an internal error, and no call, timer or socket may
 * remain.
 */
import t from 'tap'
import { until } from '../http/harness.ts'
import { fc } from '../random.ts'
import { agentNumber, far, startWorld, streamFields } from './setup.ts'

const numbers = ['0002', '0003', '0006', '0008', '0010', '0011', '0017', '0020', '0021', '0022', '0023'] as const
const actions = [
  'answer',
  'reject',
  'hangup',
  'bridge',
  'transfer',
  'send_dtmf',
  'streaming_start',
  'streaming_stop',
] as const

/** Returns the id of a leg, or an unknown id if there is no leg. */
const at = (legs: readonly string[], place: number) => legs[place % legs.length] ?? 'x'

const steps = fc.array(
  fc.oneof(
    fc.record({ step: fc.constant('dial' as const), to: fc.constantFrom(...numbers), streams: fc.boolean() }),
    fc.record({ step: fc.constant('call' as const), from: fc.constantFrom(...numbers) }),
    fc.record({ step: fc.constantFrom(...actions), leg: fc.nat(9), other: fc.nat(9), to: fc.constantFrom(...numbers) }),
    fc.record({ step: fc.constant('wait' as const), ms: fc.constantFrom(20, 500, 1000, 3000) }),
  ),
  { minLength: 5, maxLength: 30, size: 'max' },
)

t.test('after random commands and a hang-up of each leg no call is left in the simulator', async (t) => {
  const world = await startWorld(t)
  let answered = 0
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const legs = [world.simulator.call({ from: far('0011'), to: agentNumber }), await world.dial(far('0010'))]
      await world.act(legs[0] ?? '', 'answer')
      await world.clock.advance(1000)
      for (const one of sequence) {
        if (one.step === 'wait') await world.clock.advance(one.ms)
        else if (one.step === 'call') legs.push(world.simulator.call({ from: far(one.from), to: agentNumber }))
        else if (one.step === 'dial') legs.push(await world.dial(far(one.to), one.streams ? streamFields(world) : {}))
        else {
          const body = { ...streamFields(world), to: far(one.to), digits: '1', call_control_id: at(legs, one.other) }
          const { status } = await world.act(at(legs, one.leg), one.step, body)
          if (status !== 200 && status !== 422) throw new Error(`${one.step}: ${status}`)
          if (status === 200) answered++
        }
      }
      for (const leg of legs) await world.act(leg, 'hangup')
      await world.clock.advance(31_000)
      if (world.simulator.callsCount !== 0) throw new Error(`${world.simulator.callsCount} calls are left`)
      // By now all late webhooks have been sent, and no other timer is left.
      await until(() => world.clock.timers === 0)
    }),
    { numRuns: 120 },
  )
  t.ok(answered > 100, `${answered} commands had an effect`)
  await until(() => world.streams.every(({ isClosed }) => isClosed))
})
