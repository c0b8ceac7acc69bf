/**
 * Time limits for a ringing phone, a recipient who is asked to accept the call, a carrier's answering machine
 * detection, and a silent recipient.
 */
import t from 'tap'
import type { WarmRequest } from '../../domain/records/transfer-request.ts'
import type { Step } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

const calm = { seed: 7, weather: 'calm', direction: 'inbound', lastOut: 'caller leaves' } as const
const nobody = '+15005550002'
const voicemail = '+15005550008'
const person = '+15005550011'

async function ran(steps: readonly Step[]) {
  const world = new World({ ...calm, steps }, null)
  return { ...(await world.run()), world }
}

/** Returns the time between two events of the call. Events at one moment are stored 1 ms apart. */
function msBetween({ database: { events } }: World, from: string, to: string): number {
  const timeOf = (type: string) => events.find((event) => event.type === type)?.occurredAtMs ?? Number.NaN
  return timeOf(to) - timeOf(from)
}

/**
 * The sum of two times: a message to the carrier and back takes the first, and the carrier may end the ringing late by
 * the second.
 */
const wayMs = 1_200

t.test('a phone rings for as long as the request says, 30 s by default', async (t) => {
  for (const [ringingTimeout, s] of [
    [1, 1],
    [5, 5],
    [120, 120],
    [null, 30],
  ] as const) {
    const asked: WarmRequest = { to: nobody, ringingTimeout }
    for (const step of [
      { does: 'warm', asked },
      { does: 'blind', asked: { to: nobody, ringingTimeout } },
    ] as const) {
      const { failure, reached, world } = await ran([{ afterMs: 3000, ...step }])
      t.same([failure, reached], [null, [`${step.does} failed no_answer return_to_assistant`]])
      const ms = msBetween(world, 'transfer.requested', 'transfer.failed')
      t.ok(ms >= s * 1000 && ms <= s * 1000 + wayMs, `${step.does}, ${s} s: ${ms} ms`)
    }
  }
})

t.test('the ringing time begins when the carrier or the trunk has accepted the call', async (t) => {
  const { failure, reached, world } = await ran([
    // The phone line answers the dial request only after 3 s. Until then the product does not know whether the line has
    // accepted the call.
    { afterMs: 3000, does: 'line fails', ms: 100, how: 'answer slow' },
    { afterMs: 0, does: 'events are lost', ms: 3500 },
    { afterMs: 0, does: 'warm', asked: { to: nobody, ringingTimeout: 1 } },
    { afterMs: 10_000, does: 'agent speaks', ms: 200 },
  ])
  t.same([failure, reached], [null, ['warm failed no_answer return_to_assistant']])
  const ms = msBetween(world, 'transfer.requested', 'transfer.failed')
  t.ok(ms >= 4000 && ms <= 4000 + wayMs, `${ms} ms`)
})

t.test('a recipient must accept within the time in the request, by default within 20 s', async (t) => {
  for (const [screeningTimeout, s] of [
    [5, 5],
    [120, 120],
    [null, 20],
  ] as const) {
    const { failure, reached, world } = await ran([
      { afterMs: 3000, does: 'warm', asked: { to: person, screeningTimeout } },
    ])
    t.same([failure, reached], [null, ['warm failed no_answer return_to_assistant']])
    const ms = msBetween(world, 'transfer.screening', 'transfer.failed')
    t.ok(ms >= s * 1000 - 10 && ms <= s * 1000, `${s} s: ${ms} ms`)
  }
})

t.test('voicemail detection has 10 s by default, or as long as the request says', async (t) => {
  for (const [timeoutSeconds, s] of [
    [1, 1],
    [60, 60],
    [null, 10],
  ] as const) {
    const voicemailDetection = { mode: 'agent', timeoutSeconds } as const
    const asked: WarmRequest = { to: person, screeningTimeout: 120, voicemailDetection }
    const { failure, world } = await ran([{ afterMs: 3000, does: 'warm', asked }])
    t.equal(failure, null)
    const ms = msBetween(world, 'transfer.screening', 'carrier.machine_detection')
    t.ok(ms >= s * 1000 - 10 && ms <= s * 1000, `${s} s: ${ms} ms`)
  }
})

t.test("a carrier's voicemail result counts only in time, and afterwards the result is not_sure", async (t) => {
  const cases = [
    { mode: 'carrier', timeoutSeconds: 10, end: 'voicemail', result: 'machine' },
    { mode: 'amd', timeoutSeconds: 10, end: 'voicemail', result: 'machine' },
    // The carrier's detection takes more than a second, so this result is too late.
    { mode: 'carrier', timeoutSeconds: 1, end: 'no_answer', result: 'not_sure' },
  ] as const
  for (const { mode, timeoutSeconds, end, result } of cases) {
    const voicemailDetection = { mode, timeoutSeconds }
    const asked: WarmRequest = { destinations: [{ to: voicemail }], screeningTimeout: 9, voicemailDetection }
    const { failure, reached, world } = await ran([{ afterMs: 3000, does: 'warm', asked }])
    t.same([failure, reached], [null, [`warm failed ${end} return_to_assistant`]])
    const found = world.database.events.filter(({ type }) => type === 'carrier.machine_detection')
    t.match(found, [{ payload: { leg: 'recipient', mode: 'carrier', result } }])
    t.equal(found.length, 1, 'a late verdict is not recorded')
  }
})

t.test(
  'a recipient of a blind transfer waits in silence for at most 5 s, even while the agent still speaks',
  async (t) => {
    const { failure, reached, world } = await ran([
      { afterMs: 3000, does: 'agent speaks', ms: 4500 },
      { afterMs: 100, does: 'blind', asked: { to: person } },
      // The recipient has answered, but the bridge event is lost.
      { afterMs: 2500, does: 'events are lost', ms: 20_000 },
      { afterMs: 20_000, does: 'agent speaks', ms: 200 },
    ])
    t.same([failure, reached], [null, ['blind failed carrier_error return_to_assistant']])
    const silentMs = msBetween(world, 'transfer.bridging', 'transfer.failed')
    t.ok(silentMs > 4_990 && silentMs <= 5_000, `${silentMs} ms`)
  },
)
