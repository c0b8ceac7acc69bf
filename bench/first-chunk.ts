/**
 * Measures the time to an event stream's first chunk through the gateway, minus the same client's time without it. Only
 * one stream is open at a time.
 */
import { randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { loadUws } from '../runtime/listeners/uws/load.ts'
import { type Figure, median } from './figure.ts'
import { forkListener } from './fork.ts'
import { providerBody, routerBody, startGateway, withMock } from './gateway.ts'

const rounds = 10
const streamsARound = 60
/**
 * V8 compiles a request's code during thousands of requests, so warm-up streams come first. They run concurrently,
 * because each stream lasts as long as its answer.
 */
const warmUp = { streams: 6_000, concurrent: 32 }

export async function firstChunkDelay(dataDir: string): Promise<Figure> {
  const mock = await forkListener('mock-llm.ts')
  const parley = await startGateway(dataDir, {
    ...withMock(mock.port),
    engine: 'problem' in loadUws() ? 'node' : 'uws',
  })
  const direct = new Pool(`http://127.0.0.1:${mock.port}`)
  const through = new Pool(parley.url)
  const json = { 'content-type': 'application/json' }
  const askDirect = () => firstChunkMs(direct, '/v1/chat/completions', json, providerBody(true), '"content":"All ')
  const keyed = () => ({ ...json, authorization: `Bearer ${parley.key}`, 'idempotency-key': randomUUID() })
  const askThrough = () => firstChunkMs(through, '/router/v1/llm/responses', keyed(), routerBody(true), '"delta":"All ')
  for (const ask of [askDirect, askThrough]) await warm(ask)
  const measured: Round[] = []
  while (measured.length < rounds) measured.push(await measure(askDirect, askThrough))
  await Promise.all([direct.close(), through.close()])
  await parley.stop()
  mock.child.disconnect()
  return figure(measured)
}

type Ask = () => Promise<number>
/** The medians over one round's streams. */
type Round = { directMs: number; throughMs: number }

async function measure(askDirect: Ask, askThrough: Ask): Promise<Round> {
  const directMs: number[] = []
  const throughMs: number[] = []
  for (let index = 0; index < streamsARound; index++) {
    directMs.push(await askDirect())
    throughMs.push(await askThrough())
  }
  return { directMs: median(directMs), throughMs: median(throughMs) }
}

/**
 * Makes the figure. Other work on a shared machine only adds time, so the round with the fastest direct streams is
 * shown beside the rounds' median.
 */
function figure(measured: readonly Round[]): Figure {
  const added = ({ directMs, throughMs }: Round) => throughMs - directMs
  const calmest = measured.reduce((calm, round) => (round.directMs < calm.directMs ? round : calm))
  const floor = median(measured.map(({ directMs }) => directMs)).toFixed(2)
  const detail = `beside ${floor} ms direct, median of ${rounds} rounds of ${streamsARound} streams, interleaved; ${added(calmest).toFixed(2)} beside ${calmest.directMs.toFixed(2)} in the calmest`
  return { name: 'first SSE chunk, added', value: median(measured.map(added)), unit: 'ms', bar: 1, detail }
}

async function warm(ask: Ask): Promise<void> {
  let left = warmUp.streams
  const one = async () => {
    while (left-- > 0) await ask()
  }
  await Promise.all(Array.from({ length: warmUp.concurrent }, one))
}

/** Returns the time from the request to the chunk with the first token. Reads the stream to its end. */
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
