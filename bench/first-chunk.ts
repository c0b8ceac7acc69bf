/** Time to the first SSE chunk through the gateway minus the same client direct to the same mock, one stream at a time. */
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { forkListener } from './fork.ts'
import { providerBody, routerBody, startGateway, withMock } from './gateway.ts'
import type { Figure } from './main.ts'
import { median } from './statistics.ts'

const streams = 300
/** V8 goes on compiling what a request runs for thousands of requests. Many at a time, because each takes as long as its answer. */
const warmUp = { streams: 6_000, concurrent: 32 }

export async function firstChunkDelay(dataDir: string): Promise<Figure> {
  const mock = await forkListener('mock-llm.ts')
  const parley = await startGateway(dataDir, withMock(mock.port))
  const direct = new Pool(`http://127.0.0.1:${mock.port}`)
  const through = new Pool(parley.url)
  const json = { 'content-type': 'application/json' }
  const askDirect = () => firstChunkMs(direct, '/v1/chat/completions', json, providerBody(true), '"content":"All ')
  const keyed = () => ({ ...json, authorization: `Bearer ${parley.key}`, 'idempotency-key': randomUUID() })
  const askThrough = () => firstChunkMs(through, '/router/v1/llm/responses', keyed(), routerBody(true), '"delta":"All ')
  for (const ask of [askDirect, askThrough]) await warm(ask)
  const directMs: number[] = []
  const throughMs: number[] = []
  for (let index = 0; index < streams; index++) {
    directMs.push(await askDirect())
    throughMs.push(await askThrough())
  }
  await Promise.all([direct.close(), through.close()])
  await parley.stop()
  mock.child.disconnect()
  const [base, mine] = [median(directMs), median(throughMs)]
  const detail = `${mine.toFixed(2)} ms beside ${base.toFixed(2)} ms direct, medians of ${streams}, interleaved`
  return { name: 'first SSE chunk, added', value: mine - base, unit: 'ms', bar: 1, detail }
}

async function warm(ask: () => Promise<number>): Promise<void> {
  let left = warmUp.streams
  const one = async () => {
    while (left-- > 0) await ask()
  }
  await Promise.all(Array.from({ length: warmUp.concurrent }, one))
}

/** From the call to the first chunk that holds the first token; reads the stream to its end. */
async function firstChunkMs(
  pool: Pool,
  path: string,
  headers: Record<string, string>,
  body: string,
  token: string,
): Promise<number> {
  const started = performance.now()
  const answer = await pool.request({ method: 'POST', path, headers, body })
  let seen = ''
  let firstMs = 0
  for await (const chunk of answer.body) {
    seen += String(chunk)
    if (firstMs === 0 && seen.includes(token)) firstMs = performance.now() - started
  }
  if (answer.statusCode !== 200 || firstMs === 0) throw new Error(`${answer.statusCode}: ${seen.slice(0, 300)}`)
  return firstMs
}
