/** A transfer counts as refused only if the phone line refused it, and never if one of the parties hung up. */
import t from 'tap'
import type { Step } from './sequences/steps.ts'
import { World } from './sequences/world.ts'

const calm = { seed: 7, weather: 'calm', direction: 'inbound', lastOut: 'caller leaves' } as const
const person = { to: '+15005550011' }

async function ran(steps: readonly Step[]) {
  const trace: string[] = []
  const { failure, reached } = await new World({ ...calm, steps }, trace).run()
  const answers = trace.flatMap((line) => /(?:blind|warm|cancel) was .*$/.exec(line)?.[0] ?? [])
  return { failure, reached, answers }
}

t.test('a blind transfer is not refused if the caller hangs up before the carrier answers', async (t) => {
  const steps: Step[] = [
    { afterMs: 3000, does: 'line fails', ms: 100, how: 'answer late' },
    { afterMs: 0, does: 'events are lost', ms: 3000 },
    { afterMs: 0, does: 'blind', asked: person },
    { afterMs: 1000, does: 'end call' },
  ]
  t.same(await ran(steps), {
    failure: null,
    reached: ['blind failed caller_hung_up -'],
    answers: ['blind was carried out'],
  })
})

t.test('if the carrier or the trunk rejects a blind transfer, the transfer is refused', async (t) => {
  const steps: Step[] = [
    { afterMs: 3000, does: 'line fails', ms: 100, how: 'server' },
    { afterMs: 0, does: 'blind', asked: person },
    { afterMs: 5000, does: 'agent speaks', ms: 200 },
  ]
  t.same(await ran(steps), {
    failure: null,
    reached: ['blind failed carrier_error return_to_assistant'],
    answers: ['blind was refused: not_dialed'],
  })
})
