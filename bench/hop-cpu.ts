/** CPU of one LLM request through the gateway, compared with bare uWebSockets.js and undici for the same hop. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Pool } from 'undici'
import { type Figure, median } from './figure.ts'
import { forkListener } from './fork.ts'
import { providerBody, routerBody, startGateway, withMock } from './gateway.ts'
import { wordsAStream } from './mock-answers.ts'
import { cpuMs, treeCpuMs } from './process-figures.ts'

const concurrency = 64
const rounds = 3

type Hop = {
  name: string
  bar: number
  path: string
  body: string
  /** The body for the floor, in the provider's wire format. */
  floorBody: string
  isIdempotent: boolean
  requestsARound: number
  /** Requests before the measurement. V8 compiles the longer of the two paths during about 20,000 requests. */
  warmUp: number
  /** One request counts as 1, or as the number of its chunks. */
  unitsARequest: number
}

/** A JSON request to the router surface. */
export const routerCpu = (dataDir: string): Promise<Figure> =>
  hopCpu(dataDir, {
    name: 'CPU of an LLM JSON call',
    bar: 4,
    path: '/router/v1/llm/responses',
    body: routerBody(false),
    floorBody: providerBody(false),
    isIdempotent: true,
    requestsARound: 12_000,
    warmUp: 24_000,
    unitsARequest: 1,
  })

/** A JSON request to the compatible surface. */
export const chatCpu = (dataDir: string): Promise<Figure> =>
  hopCpu(dataDir, {
    name: 'CPU of a chat JSON call',
    bar: 3,
    path: '/v1/chat/completions',
    body: providerBody(false, 'mock:mock'),
    floorBody: providerBody(false),
    isIdempotent: false,
    requestsARound: 12_000,
    warmUp: 24_000,
    unitsARequest: 1,
  })

/** Events of the compatible surface. The words come apart in time, so each event is read and written alone. */
export const chunkCpu = (dataDir: string): Promise<Figure> =>
  hopCpu(dataDir, {
    name: 'CPU of a streamed chat chunk',
    bar: 2,
    path: '/v1/chat/completions',
    body: providerBody(true, 'mock:mock-words'),
    floorBody: providerBody(true, 'mock-words'),
    isIdempotent: false,
    requestsARound: 256,
    warmUp: 128,
    unitsARequest: wordsAStream,
  })

type Target = { pool: Pool; path: string; headers: () => Record<string, string>; body: string }

async function hopCpu(dataDir: string, hop: Hop): Promise<Figure> {
  const mock = await forkListener('mock-llm.ts')
  const bare = await forkListener('bare-hop.ts', [String(mock.port)])
  const parley = await startGateway(dataDir, withMock(mock.port))
  const postmaster = Number(readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  const json = { 'content-type': 'application/json' }
  const keyed = () => ({
    ...json,
    authorization: `Bearer ${parley.key}`,
    ...(hop.isIdempotent && { 'idempotency-key': randomUUID() }),
  })
  const gateway: Target = { pool: pool(parley.url), path: hop.path, headers: keyed, body: hop.body }
  const origin = `http://127.0.0.1:${bare.port}`
  const floor: Target = { pool: pool(origin), path: '/', headers: () => json, body: hop.floorBody }
  const floorMs: number[] = []
  const gatewayMs: number[] = []
  const storeMs: number[] = []
  try {
    for (const target of [floor, gateway]) await load(target, hop.warmUp)
    for (let round = 0; round < rounds; round++) {
      const before = { bare: cpuMs(bare.pid), parley: 0, store: 0 }
      await load(floor, hop.requestsARound)
      floorMs.push(cpuMs(bare.pid) - before.bare)
      Object.assign(before, { parley: cpuMs(parley.pid), store: treeCpuMs(postmaster) })
      await load(gateway, hop.requestsARound)
      gatewayMs.push(cpuMs(parley.pid) - before.parley)
      storeMs.push(treeCpuMs(postmaster) - before.store)
    }
  } finally {
    await Promise.all([gateway.pool.close(), floor.pool.close()])
    await parley.stop()
    for (const one of [bare, mock]) one.child.disconnect()
  }
  const units = hop.requestsARound * hop.unitsARequest
  const us = (all: number[]) => (median(all) / units) * 1000
  const [base, mine, store] = [us(floorMs), us(gatewayMs), us(storeMs)]
  const detail = `${mine.toFixed(1)} us beside ${base.toFixed(1)} us bare, Postgres ${store.toFixed(1)} us; ${concurrency} concurrent, median of ${rounds} rounds of ${units}`
  return { name: hop.name, value: mine / base, unit: 'times bare', bar: hop.bar, detail }
}

function pool(origin: string): Pool {
  return new Pool(origin, { connections: concurrency })
}

/** Keeps `concurrency` requests in flight until `count` were answered. Any answer but 200 ends the bench. */
async function load(target: Target, count: number): Promise<void> {
  let left = count
  const one = async () => {
    while (left-- > 0) {
      const answer = await target.pool.request({
        method: 'POST',
        path: target.path,
        headers: target.headers(),
        body: target.body,
      })
      const text = await answer.body.text()
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 300)}`)
      if (text.startsWith('data:') && !text.endsWith('data: [DONE]\n\n'))
        throw new Error(`cut short: ${text.slice(-300)}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, one))
}
