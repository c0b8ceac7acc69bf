/**
 * If one connected party leaves and the carrier never reports it, the other party must not wait in silence for long.
 */
import t from 'tap'
import type { Step } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

const calm = { seed: 7, weather: 'calm', direction: 'inbound', lastOut: 'caller leaves' } as const
const person = '+15005550011'
/** Every 10 s the product asks the phone line about each leg that had no event in the last 5 s. */
const noticedMs = 15_000

/** Returns how long the caller waits in silence. */
async function silenceAfter(steps: readonly Step[]) {
  const trace: string[] = []
  const { failure, reached } = await new World({ ...calm, steps }, trace).run()
  const overs = trace.filter((line) => line.endsWith(' is over')).map((line) => Number(line.split(' ')[0]))
  return { failure, reached, silentMs: (overs[1] ?? 0) - (overs[0] ?? 0) }
}

t.test("if a recipient's hang-up event is lost, the missing audio shows the hang-up within a time limit", async (t) => {
  for (const afterMs of [100, 2_000, 9_000, 20_000]) {
    const steps: Step[] = [
      { afterMs: 3000, does: 'blind', asked: { to: person } },
      // The recipient has answered before this step.
      { afterMs: 3000, does: 'events are lost', ms: afterMs + 100 },
      { afterMs, does: 'recipient leaves' },
      { afterMs: 20_000, does: 'agent speaks', ms: 200 },
    ]
    const { failure, reached, silentMs } = await silenceAfter(steps)
    t.same([failure, reached], [null, ['blind completed - -']])
    t.ok(silentMs > 0 && silentMs <= noticedMs, `${afterMs} ms after: ${silentMs} ms`)
  }
})
