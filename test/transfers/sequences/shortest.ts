/** Finds the fewest steps that still fail in the same way. */
import type { Sequence } from './steps.ts'
import { World } from './world.ts'

export async function shortest(failing: Sequence, failure: string) {
  const kind = kindOf(failure)
  const fails = async (sequence: Sequence) => {
    const outcome = await new World(sequence, null).run()
    return outcome.failure !== null && kindOf(outcome.failure) === kind
  }
  let best = failing
  for (let at = best.steps.length - 1; at >= 0; at--) {
    const steps = best.steps.filter((_step, place) => place !== at)
    if (await fails({ ...best, steps })) best = { ...best, steps }
  }
  for (const weather of ['calm', 'late events'] as const)
    if (await fails({ ...best, weather })) {
      best = { ...best, weather }
      break
    }
  const trace: string[] = []
  const { failure: again } = await new World(best, trace).run()
  return { failure: again, sequence: best, trace }
}

const kindOf = (failure: string) => failure.replace(/\d+/g, '')
