/**
 * Measures how the server's memory grows over many requests to one API. The memory is read twice, each time after
 * garbage collections. The first reading comes after warm-up requests that compile the code and fill the caches.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import type { EngineName } from '../runtime/engine/options.ts'
import { loadUws } from '../runtime/listeners/uws/load.ts'
import { freshDataDir } from '../test/installation.ts'
import { collectsOnSignal, heldMiB } from '../test/process/held-memory.ts'
import { freePort } from '../test/process/machine.ts'
import { startOwnCarrier } from '../test/process/own-carrier.ts'
import type { Running } from '../test/process/parley.ts'
import { carrierEnv } from './carrier-child.ts'
import type { Figure, Result } from './figure.ts'
import { forkListener } from './fork.ts'
import { startGateway, withMock } from './gateway.ts'
import { type Surface, type Surfaced, surfaces } from './surfaces.ts'

const concurrency = 64
/**
 * With a warm-up of only 5,000 requests, V8 still compiles code during the measurement, and the memory grows by a
 * quarter.
 */
const warmUp = 10_000
/** The server writes the rows of served requests in the first seconds, so the first collection comes after 3 s. */
const betweenCollectionsMs = 3_000
const collectionsBeforeReading = 5
/** The requirement in issue 33: the resident memory after a collection is at most 1.2 times the first reading. */
const growthMax = 1.2

/** Returns a measurement for each API on each engine, with this many requests. */
export function memoryFigures(requests: number): (() => Promise<Result>)[] {
  return surfaces.flatMap((surface) => [
    () => growth('node', surface, requests),
    () => growth('uws', surface, requests),
  ])
}

async function growth(engine: EngineName, surface: Surface, requests: number): Promise<Result> {
  const uws = loadUws()
  const name = `memory after ${requests} requests of the surface ${surface.name}, ${engine}`
  if (engine === 'uws' && 'problem' in uws) return { name, skipped: uws.problem }
  const carrier = await startOwnCarrier()
  const mock = await forkListener('mock-llm.ts')
  const [port, carrierPort] = [await freePort(), Number(new URL(carrier.baseUrl).port)]
  const { providers } = withMock(mock.port)
  const account = carrierEnv(
    { ...carrier, port: carrierPort },
    { publicUrl: `http://127.0.0.1:${port}`, port, carrierPort },
  )
  const settings = { engine, providers: [...providers, { id: 'loopback', adapter: 'loopback' }] }
  const parley = await startGateway(freshDataDir(), settings, { ...account, ...collectsOnSignal })
  const pool = new Pool(parley.url, { connections: concurrency })
  try {
    return { name, ...(await measure(parley, { target: parley, pool, carrier }, surface, requests)) }
  } finally {
    await pool.close()
    await parley.remove()
    mock.child.disconnect()
    await carrier.close()
  }
}

async function measure(
  parley: Running,
  server: Surfaced,
  surface: Surface,
  requests: number,
): Promise<Omit<Figure, 'name'>> {
  await send(server, surface, warmUp)
  const before = await settledMiB(parley)
  const startedMs = performance.now()
  await send(server, surface, requests)
  const rate = requests / ((performance.now() - startedMs) / 1000)
  const after = await settledMiB(parley)
  const detail = `${before.toFixed(0)} MiB after ${warmUp} requests, ${after.toFixed(0)} MiB after ${requests} more, at ${rate.toFixed(0)} requests/s`
  return { value: after / before, unit: 'times', bar: growthMax, detail }
}

async function send(server: Surfaced, surface: Surface, requests: number): Promise<void> {
  let left = requests
  const lane = async () => {
    for (; left > 0; ) {
      left -= surface.requests
      await surface.send(server)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
}

/**
 * Collects several times. V8 gives the room of young objects back only if it sees in collections some seconds apart
 * that few objects are made, and finalizers run after a collection and free more.
 */
async function settledMiB(parley: Running): Promise<number> {
  for (let collections = 0; collections < collectionsBeforeReading; collections += 1) {
    await sleep(betweenCollectionsMs)
    await heldMiB(parley)
  }
  return heldMiB(parley)
}
