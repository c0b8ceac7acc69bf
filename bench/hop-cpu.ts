/** CPU of one LLM JSON call through the gateway beside bare uWebSockets.js + undici doing the same hop. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Pool } from 'undici'
import { forkListener } from './fork.ts'
import { providerBody, routerBody, startGateway } from './gateway.ts'
import type { Figure } from './main.ts'
import { cpuMs, treeCpuMs } from './process-figures.ts'
import { median } from './statistics.ts'

const concurrency = 64
const requestsARound = 12_000
const warmUp = 4000
const rounds = 3

type Target = { pool: Pool; path: string; headers: () => Record<string, string>; body: string }

export async function hopCpu(dataDir: string): Promise<Figure> {
  const mock = await forkListener('mock-llm.ts')
  const bare = await forkListener('bare-hop.ts', [String(mock.port)])
  const parley = await startGateway(dataDir, mock.port)
  const postmaster = Number(readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  const json = { 'content-type': 'application/json' }
  const keyed = () => ({ ...json, authorization: `Bearer ${parley.key}`, 'idempotency-key': randomUUID() })
  const gateway: Target = {
    pool: pool(parley.url),
    path: '/router/v1/llm/responses',
    headers: keyed,
    body: routerBody(false),
  }
  const floor: Target = {
    pool: pool(`http://127.0.0.1:${bare.port}`),
    path: '/',
    headers: () => json,
    body: providerBody(false),
  }
  await load(floor, warmUp)
  await load(gateway, warmUp)
  const floors: number[] = []
  const ours: number[] = []
  const stores: number[] = []
  for (let round = 0; round < rounds; round++) {
    floors.push(
      await spent(
        () => cpuMs(bare.pid),
        () => load(floor, requestsARound),
      ),
    )
    let store = 0
    ours.push(
      await spent(
        () => cpuMs(parley.pid),
        async () => {
          store = await spent(
            () => treeCpuMs(postmaster),
            () => load(gateway, requestsARound),
          )
        },
      ),
    )
    stores.push(store)
  }
  await Promise.all([gateway.pool.close(), floor.pool.close()])
  await parley.stop()
  for (const one of [bare, mock]) one.child.disconnect()
  const [base, mine, store] = [floors, ours, stores].map((all) => (median(all) / requestsARound) * 1000) as [
    number,
    number,
    number,
  ]
  const detail = `${mine.toFixed(0)} us beside ${base.toFixed(0)} us bare, Postgres ${store.toFixed(0)} us; ${concurrency} concurrent, median of ${rounds} rounds of ${requestsARound}`
  return { name: 'CPU of an LLM JSON call', value: mine / base, unit: 'times bare', bar: 4, detail }
}

function pool(origin: string): Pool {
  return new Pool(origin, { connections: concurrency })
}

async function spent(read: () => number, run: () => Promise<unknown>): Promise<number> {
  const before = read()
  await run()
  return read() - before
}

/** Keeps `concurrency` requests in flight until `count` were answered; any answer but 200 ends the bench. */
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
    }
  }
  await Promise.all(Array.from({ length: concurrency }, one))
}
