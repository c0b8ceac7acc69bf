import { setTimeout as sleep } from 'node:timers/promises'
import { startParley } from '../test/process/parley.ts'
import { type Figure, median } from './figure.ts'
import { residentMiB } from './process-figures.ts'

const rounds = 5
// Long enough for start-up garbage to be collected.
const idleMs = 5000

/** Time from the spawn to the first 200 of /readyz, on a data folder that was started before. */
export async function readyTime(dataDir: string): Promise<Figure> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const started = performance.now()
    const parley = await startParley({}, dataDir)
    const answer = await fetch(`${parley.url}/readyz`)
    times.push(performance.now() - started)
    if (answer.status !== 200) throw new Error(`readyz answered ${answer.status}`)
    await parley.stop()
  }
  const detail = `median of ${rounds}, all: ${times.map((time) => time.toFixed(0)).join(' ')} ms`
  return { name: 'ready after start', value: median(times) / 1000, unit: 's', bar: 1, detail }
}

/** Resident memory of the Node process before a local model is loaded, without Postgres and children. */
export async function idleMemory(dataDir: string): Promise<Figure> {
  const parley = await startParley({}, dataDir)
  await fetch(`${parley.url}/router/v1/models`, { headers: { authorization: `Bearer ${parley.key}` } }).then((answer) =>
    answer.text(),
  )
  await sleep(idleMs)
  const value = residentMiB(parley.pid)
  await parley.stop()
  return { name: 'idle memory', value, unit: 'MiB', bar: 110, detail: `${idleMs / 1000} s after start and one request` }
}
