/** The time that a verdict of a carrier and a silent recipient have. */
import t from 'tap'
import type { AskedWarm } from '../../domain/transfers/asked-transfer.ts'
import type { Step } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

const calm = { seed: 7, weather: 'calm', direction: 'inbound', lastOut: 'caller leaves' } as const
const voicemail = '+15005550008'
const person = '+15005550011'

async function ran(steps: readonly Step[]) {
  const world = new World({ ...calm, steps }, null)
  return { ...(await world.run()), world }
}

t.test('a verdict of the carrier counts within the time for it, and is not_sure after that', async (t) => {
  const cases = [
    { mode: 'carrier', timeoutSeconds: 10, end: 'voicemail', result: 'machine' },
    { mode: 'amd', timeoutSeconds: 10, end: 'voicemail', result: 'machine' },
    // The carrier takes longer than a second.
    { mode: 'carrier', timeoutSeconds: 1, end: 'no_answer', result: 'not_sure' },
  ] as const
  for (const { mode, timeoutSeconds, end, result } of cases) {
    const voicemailDetection = { mode, timeoutSeconds }
    const asked: AskedWarm = { destinations: [{ to: voicemail }], screeningTimeout: 9, voicemailDetection }
    const { failure, reached, world } = await ran([{ afterMs: 3000, does: 'warm', asked }])
    t.same([failure, reached], [null, [`warm failed ${end} return_to_assistant`]])
    const found = world.database.events.filter(({ type }) => type === 'carrier.machine_detection')
    t.match(found, [{ payload: { leg: 'recipient', mode: 'carrier', result } }])
    t.equal(found.length, 1, 'a late verdict is not recorded')
  }
})

t.test(
  'a recipient of a blind transfer waits in silence for 5 s at most, while the agent ends its sentence too',
  async (t) => {
    const { failure, reached, world } = await ran([
      { afterMs: 3000, does: 'agent speaks', ms: 4500 },
      { afterMs: 100, does: 'blind', asked: { to: person } },
      // The recipient has answered, and the bridge is not announced.
      { afterMs: 2500, does: 'events are lost', ms: 20_000 },
      { afterMs: 20_000, does: 'agent speaks', ms: 200 },
    ])
    t.same([failure, reached], [null, ['blind failed carrier_error return_to_assistant']])
    const { events } = world.database
    const timeOf = (type: string) => events.find((event) => event.type === type)?.occurredAtMs ?? 0
    // Events of one moment are stored 1 ms apart.
    const silentMs = timeOf('transfer.failed') - timeOf('transfer.bridging')
    t.ok(silentMs > 4_990 && silentMs <= 5_000, `${silentMs} ms`)
  },
)
