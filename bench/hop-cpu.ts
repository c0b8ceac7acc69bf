/**
 * Compares the CPU for an LLM request through the gateway with the CPU for the same request through bare uWebSockets.js
 * and undici. Also compares the gateway over node:http with the gateway over uWebSockets.js.
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Pool } from 'undici'
import { loadUws } from '../runtime/listeners/uws/load.ts'
import { freshDataDir } from '../test/installation.ts'
import { type Running } from '../test/process/parley.ts'
import { type Figure, median, type Result } from './figure.ts'
import { forkListener } from './fork.ts'
import { providerBody, routerBody, startGateway, withMock } from './gateway.ts'
import { wordsAStream } from './mock-answers.ts'
import { cpuMs, treeCpuMs } from './process-figures.ts'

const concurrency = 64
const rounds = 3

type Hop = {
  name: string
  bar: number
  /** The maximum cost over node:http, in multiples of the cost over uWebSockets.js. Null if not measured. */
  nodeBar: number | null
  path: string
  body: string
  /** The body for the bare hop, in the provider's wire format. */
  floorBody: string
  isIdempotent: boolean
  requestsARound: number
  /** Requests before the measurement. V8 compiles the longer path during about 20,000 requests. */
  warmUp: number
  /** The number of units that one request counts as: 1, or the number of its chunks. */
  unitsARequest: number
}

/** Measures a JSON request to the router API. */
export const routerCpu = (dataDir: string): Promise<Result[]> =>
  hopCpu(dataDir, {
    name: 'CPU of an LLM JSON call',
    bar: 4,
    nodeBar: null,
    path: '/router/v1/llm/responses',
    body: routerBody(false),
    floorBody: providerBody(false),
    isIdempotent: true,
    requestsARound: 12_000,
    warmUp: 24_000,
    unitsARequest: 1,
  })

/** A JSON request to the OpenAI-compatible API. */
const chat: Hop = {
  name: 'CPU of a chat JSON call',
  bar: 3,
  nodeBar: 1.6,
  path: '/v1/chat/completions',
  body: providerBody(false, 'mock:mock'),
  floorBody: providerBody(false),
  isIdempotent: false,
  requestsARound: 12_000,
  warmUp: 24_000,
  unitsARequest: 1,
}

export const chatCpu = (dataDir: string): Promise<Result[]> => hopCpu(dataDir, chat)

/**
 * Measures streamed events of the OpenAI-compatible API. The words arrive one after another, so each event is read and
 * written separately.
 */
export const chunkCpu = (dataDir: string): Promise<Result[]> =>
  hopCpu(dataDir, {
    name: 'CPU of a streamed chat chunk',
    bar: 2,
    nodeBar: null,
    path: '/v1/chat/completions',
    body: providerBody(true, 'mock:mock-words'),
    floorBody: providerBody(true, 'mock-words'),
    isIdempotent: false,
    requestsARound: 256,
    warmUp: 128,
    unitsARequest: wordsAStream,
  })

/** Compares a gateway with a log line per request to a gateway without log lines, for the same request. */
export async function accessLineCpu(dataDir: string): Promise<Figure> {
  const mock = await forkListener('mock-llm.ts')
  const quiet = await startGateway(dataDir, withMock(mock.port))
  const noisy = await startGateway(freshDataDir(), withMock(mock.port), { PARLEY_LOG_LEVEL: 'info' })
  const [without, written] = [quiet, noisy].map(({ url, pid, key }) => contestant(url, pid, key, chat)) as [
    Contestant,
    Contestant,
  ]
  try {
    await measure([without, written], chat, dataDir)
  } finally {
    await Promise.all([without, written].map(({ target }) => target.pool.close()))
    await Promise.all([quiet.stop(), noisy.remove()])
    mock.child.disconnect()
  }
  const lines = noisy.output().split('"msg":"request"').length - 1
  const sent = chat.warmUp + rounds * chat.requestsARound
  if (lines !== sent) throw new Error(`${lines} lines of ${sent} requests`)
  const ratios = written.us.map((us, round) => us / (without.us[round] ?? Number.NaN))
  const [base, mine] = [median(without.us), median(written.us)]
  const detail = `${mine.toFixed(1)} us beside ${base.toFixed(1)} us: the line costs ${(mine - base).toFixed(1)} us; ${paceOf(chat)}`
  return {
    name: 'CPU of a chat JSON call with its access line',
    value: median(ratios),
    unit: 'times without',
    bar: 1.25,
    detail,
  }
}

type Target = { pool: Pool; path: string; headers: () => Record<string, string>; body: string }
/** A compared server. `us` has the CPU per unit, for each round. */
type Contestant = { target: Target; pid: number; us: number[] }

async function hopCpu(dataDir: string, hop: Hop): Promise<Result[]> {
  const uws = loadUws()
  if ('problem' in uws) return [{ name: hop.name, skipped: uws.problem }]
  const mock = await forkListener('mock-llm.ts')
  const bare = await forkListener('bare-hop.ts', [String(mock.port)])
  const main = await startGateway(dataDir, { ...withMock(mock.port), engine: 'uws' })
  const second = hop.nodeBar === null ? null : await secondGateway(mock.port)
  const floor = contestant(`http://127.0.0.1:${bare.port}`, bare.pid, null, hop)
  const gateway = contestant(main.url, main.pid, main.key, hop)
  const overNode = second && contestant(second.url, second.pid, second.key, hop)
  const all = overNode ? [floor, gateway, overNode] : [floor, gateway]
  try {
    const storeUs = await measure(all, hop, dataDir)
    return overNode
      ? [besideBare(hop, floor, gateway, storeUs), besideUws(hop, gateway, overNode)]
      : [besideBare(hop, floor, gateway, storeUs)]
  } finally {
    await Promise.all(all.map(({ target }) => target.pool.close()))
    await Promise.all([main.stop(), second?.remove()])
    for (const one of [bare, mock]) one.child.disconnect()
  }
}

/** Starts a gateway over node:http with a store that is removed with it. */
async function secondGateway(mockPort: number): Promise<Running> {
  return startGateway(freshDataDir(), { ...withMock(mockPort), engine: 'node' })
}

/** Describes a compared server. Without a key it is the bare hop, which reads the provider's wire format. */
function contestant(origin: string, pid: number, key: string | null, hop: Hop): Contestant {
  const json = { 'content-type': 'application/json' }
  const keyed = () => ({
    ...json,
    authorization: `Bearer ${key}`,
    ...(hop.isIdempotent && { 'idempotency-key': randomUUID() }),
  })
  const target: Target =
    key === null
      ? { pool: pool(origin), path: '/', headers: () => json, body: hop.floorBody }
      : { pool: pool(origin), path: hop.path, headers: keyed, body: hop.body }
  return { target, pid, us: [] }
}

/** Fills in the contestants' figures. Returns Postgres's CPU per gateway unit, for each round. */
async function measure(all: readonly Contestant[], hop: Hop, dataDir: string): Promise<number[]> {
  const postmaster = Number(readFileSync(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0])
  const units = hop.requestsARound * hop.unitsARequest
  const storeUs: number[] = []
  for (const { target } of all) await load(target, hop.warmUp)
  for (let round = 0; round < rounds; round++) {
    const storeMs = treeCpuMs(postmaster)
    for (const { target, pid, us } of all) {
      const beforeMs = cpuMs(pid)
      await load(target, hop.requestsARound)
      us.push(((cpuMs(pid) - beforeMs) / units) * 1000)
    }
    storeUs.push(((treeCpuMs(postmaster) - storeMs) / units) * 1000)
  }
  return storeUs
}

function besideBare(hop: Hop, floor: Contestant, gateway: Contestant, storeUs: readonly number[]): Figure {
  const [base, mine] = [median(floor.us), median(gateway.us)]
  const detail = `${mine.toFixed(1)} us beside ${base.toFixed(1)} us bare, Postgres ${median(storeUs).toFixed(1)} us; ${paceOf(hop)}`
  return { name: hop.name, value: mine / base, unit: 'times bare', bar: hop.bar, detail }
}

function besideUws(hop: Hop, gateway: Contestant, overNode: Contestant): Figure {
  // Ratios are computed round by round, so that a drift between rounds affects both gateways equally.
  const ratios = overNode.us.map((us, round) => us / (gateway.us[round] ?? Number.NaN))
  const detail = `${median(overNode.us).toFixed(1)} us beside ${median(gateway.us).toFixed(1)} us; ${paceOf(hop)}`
  return { name: `${hop.name}, engine node`, value: median(ratios), unit: 'times engine uws', bar: hop.nodeBar, detail }
}

function paceOf({ requestsARound, unitsARequest }: Hop): string {
  return `${concurrency} concurrent, median of ${rounds} rounds of ${requestsARound * unitsARequest}`
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
