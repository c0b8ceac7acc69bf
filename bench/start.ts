import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { startParley } from '../test/process/parley.ts'
import { type Figure, median } from './figure.ts'
import { residentMiB } from './process-figures.ts'

const recording = new URL('../test/fixtures/speech/please-try-call-later.wav', import.meta.url)
const rounds = 5
// After this time the garbage from the server's start has been collected.
const idleMs = 5000

/** Measures the time from the spawn to the first 200 from /readyz, on a data folder that was started before. */
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

/** Measures the Node process's resident memory before a local model is loaded, without Postgres and children. */
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

/**
 * Measures the warm engine: the server's memory, the engine's memory, and the first transcription after an idle time.
 */
export async function warmEngine(dataDir: string): Promise<Figure[]> {
  const parley = await startParley({ PARLEY_LOCAL_WARM: 'true', PARLEY_LOG_LEVEL: 'info' }, dataDir)
  await sleep(idleMs)
  const server = residentMiB(parley.pid)
  const engine = residentMiB(Number(/"entry":"stt-child","childPid":(\d+)/.exec(parley.output())?.[1]))
  const started = performance.now()
  const { status } = await transcribe(parley)
  const firstMs = performance.now() - started
  await parley.stop()
  if (status !== 200) throw new Error(`the transcription answered ${status}`)
  const detail = `${idleMs / 1000} s after start, with local.warm`
  return [
    { name: 'idle memory of the server beside a warm engine', value: server, unit: 'MiB', bar: 110, detail },
    { name: 'idle memory of the warm engine', value: engine, unit: 'MiB', bar: null, detail },
    {
      name: 'first transcription of a quiet server',
      value: firstMs / 1000,
      unit: 's',
      bar: 0.25,
      detail: '2.2 s of speech',
    },
  ]
}

function transcribe({ url, key }: { url: string; key: string }): Promise<Response> {
  const body = new FormData()
  body.set('model', 'local:moonshine-tiny-en')
  body.set('file', new Blob([readFileSync(recording)]), 'a.wav')
  return fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body, headers: { authorization: `Bearer ${key}` } })
}
