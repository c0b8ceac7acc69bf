/** Opens voice activity detection streams for tests, over one real child process. */
import { type Vad as VadPort, vadFrameSamples } from '../../domain/ports/vad.ts'
import { createLocalVad } from '../../providers/local/vad/vad-process.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { eventually } from './setup.ts'

/** Opens the detection. `pids` and `ended` are the child processes that have started and ended. */
export function open(t: { teardown: (run: () => Promise<void>) => unknown }, idleMs = 60_000) {
  const pids: number[] = []
  const ended: number[] = []
  const info = (fields: { childPid?: number }, message: string) => {
    if (message === 'speech child started') pids.push(fields.childPid!)
    if (message === 'speech child ended') ended.push(fields.childPid!)
  }
  const vad = createLocalVad({ idleMs, clock: systemClock, log: { info, warn: () => {}, error: () => {} } })
  t.teardown(() => vad.close())
  return { vad, pids, ended }
}

/** Pushes samples in steps of 20 ms and returns one probability per whole frame. */
export async function probabilities(vad: VadPort, samples: Int16Array, stepSamples = 320): Promise<number[]> {
  const found: number[] = []
  const stream = vad.open((probability) => found.push(probability))
  const count = Math.floor(samples.length / vadFrameSamples)
  const enough = async (frames: number) => {
    if (!(await eventually(() => found.length >= frames))) throw new Error('the engine does not answer')
  }
  for (let at = 0; at < samples.length; at += stepSamples) {
    stream.push(samples.subarray(at, at + stepSamples))
    const waitsMax = Math.floor(at / vadFrameSamples) - 20
    if (found.length < waitsMax) await enough(waitsMax)
  }
  await enough(count)
  stream.close()
  return found
}
