/** Measures the unit costs of a request to the router API: an LLM answer as JSON, from a provider without delay. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { startCostNodes } from './cost-nodes.ts'
import { startRelay } from './counting-relay.ts'
import { type Counts, countsOfPostgresAreIn, eachOf, readCounts } from './counts.ts'
import { forkListener } from './fork.ts'
import { routerBody, withMock } from './gateway.ts'

const concurrency = 32
const warmUpRequests = 12_000
const requestsMeasured = 20_000
const idleMs = 20_000

export type RequestCosts = {
  request: Counts
  /** The costs for one second without any request. */
  idleSecond: Counts
}

export async function requestCosts(): Promise<RequestCosts> {
  const mock = await forkListener('mock-llm.ts')
  const toProvider = await startRelay(() => mock.port)
  let nodePort = 0
  const toNode = await startRelay(() => nodePort)
  const relays = [toProvider, toNode]
  const { providers } = withMock(toProvider.port)
  const nodes = await startCostNodes({ PARLEY_PROVIDERS: JSON.stringify(providers), PARLEY_LOG_LEVEL: 'info' }, relays)
  try {
    nodePort = Number(new URL(nodes.parley.url).port)
    const pool = new Pool(`http://127.0.0.1:${toNode.port}`, { connections: concurrency })
    await load(pool, nodes.parley.key, warmUpRequests)
    await countsOfPostgresAreIn()
    const before = await readCounts(nodes.counted)
    await load(pool, nodes.parley.key, requestsMeasured)
    await countsOfPostgresAreIn()
    const after = await readCounts(nodes.counted)
    await sleep(idleMs)
    const idle = await readCounts(nodes.counted)
    await pool.close()
    // Both nodes write to Postgres and query Redis, so half of these counts belong to one idle node.
    const idleSecond = eachOf(after, idle, idleMs / 1000)
    for (const name of ['postgresCpuMs', 'transactions', 'rowsWritten', 'walBytes', 'redisCommands'] as const)
      idleSecond[name] /= 2
    return { request: eachOf(before, after, requestsMeasured), idleSecond }
  } finally {
    await nodes.close()
    for (const relay of relays) relay.close()
    mock.child.disconnect()
  }
}

async function load(pool: Pool, key: string, count: number): Promise<void> {
  let left = count
  const worker = async () => {
    while (left-- > 0) {
      const answer = await pool.request({
        method: 'POST',
        path: '/router/v1/llm/responses',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${key}`,
          'idempotency-key': randomUUID(),
        },
        body: routerBody(false),
      })
      const text = await answer.body.text()
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode}: ${text.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}
