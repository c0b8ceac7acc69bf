/**
 * Measures the unit costs of a phone call, per minute and per call, with a simulated carrier, stub engines for speech
 * and LLM, and real voice activity detection.
 */
import type { ChildProcess } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { freePort, until } from '../test/process/machine.ts'
import { addNumber, carrierEnv, openAccount, placeCalls } from './carrier-child.ts'
import { type CostNodes, startCostNodes } from './cost-nodes.ts'
import { startRelay } from './counting-relay.ts'
import { type Counts, countsOfPostgresAreIn, eachOf, readCounts } from './counts.ts'
import { forkListener } from './fork.ts'
import { residentMiB } from './process-figures.ts'
import { stubProviders } from './stub-engines.ts'

const warmUpCalls = 5
const warmUpMs = 15_000
const callsMeasured = 50
/** The wait until all calls are answered and their agents have spoken. */
const settledMs = 4_000
/**
 * The time between the two readings of the counts. It is shorter than a call, because the simulated carrier's callers
 * stay for a minute.
 */
const windowMs = 45_000
const endMs = 60_000

export type CallCosts = {
  minute: Counts
  call: Counts
  /** The memory that one live call takes in the server process. */
  callMemoryBytes: number
  /** The bytes for a recorded minute with both sides. */
  minuteRecordedBytes: number
}

export async function callCosts(): Promise<CallCosts> {
  const engines = await forkListener('session-engines.ts')
  const receiver = await forkListener('fast-receiver.ts')
  const { child: carrier } = await forkListener('phone-carrier.ts')
  let [nodePort, carrierPort] = [0, 0]
  const relays = await Promise.all([
    startRelay(() => engines.port),
    startRelay(() => receiver.port),
    startRelay(() => nodePort),
    startRelay(() => carrierPort),
  ])
  const [toEngines, toReceiver, toNode, toCarrier] = relays
  const publicUrl = `http://127.0.0.1:${toNode.port}`
  try {
    const account = await openAccount(carrier, publicUrl)
    carrierPort = account.port
    nodePort = await freePort()
    const nodes = await startCostNodes(
      {
        PARLEY_PROVIDERS: stubProviders(toEngines.port),
        PARLEY_LOG_LEVEL: 'info',
        PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
        ...carrierEnv(account, { publicUrl, port: nodePort, carrierPort: toCarrier.port }),
      },
      relays,
    )
    try {
      await prepare(nodes, `http://127.0.0.1:${toReceiver.port}/hook`)
      await hold(nodes, carrier, warmUpCalls, warmUpMs)
      return await measure(nodes, carrier)
    } finally {
      await nodes.close()
    }
  } finally {
    for (const relay of relays) relay.close()
    for (const child of [carrier, receiver.child, engines.child]) child.disconnect()
  }
}

async function measure(nodes: CostNodes, carrier: ChildProcess): Promise<CallCosts> {
  const { counted, parley, sql } = nodes
  await countsOfPostgresAreIn()
  const before = await readCounts(counted)
  const memoryMiB = residentMiB(parley.pid)
  const recordedBytes = folderBytes(path.join(parley.dataDir, 'recordings'))
  const firstAt = new Date()
  let window: [Counts, Counts] | null = null
  let windowMinutes = 0
  let callMemoryBytes = 0
  await hold(nodes, carrier, callsMeasured, settledMs + windowMs, async () => {
    await sleep(settledMs)
    const [startedMs, first] = [performance.now(), await readCounts(counted)]
    await sleep(windowMs)
    window = [first, await readCounts(counted)]
    windowMinutes = ((performance.now() - startedMs) / 60_000) * callsMeasured
    callMemoryBytes = ((residentMiB(parley.pid) - memoryMiB) * 2 ** 20) / callsMeasured
  })
  await countsOfPostgresAreIn()
  const after = await readCounts(counted)
  if (window === null) throw new Error('no call was measured')
  const minute = eachOf(...(window as [Counts, Counts]), windowMinutes)
  const minutes = await minutesSince(sql, firstAt)
  const call = eachOf(before, after, callsMeasured)
  for (const name of Object.keys(call) as (keyof Counts)[])
    call[name] = Math.max(0, call[name] - (minute[name] * minutes) / callsMeasured)
  const allRecordedBytes = folderBytes(path.join(parley.dataDir, 'recordings')) - recordedBytes
  return { minute, call, callMemoryBytes, minuteRecordedBytes: allRecordedBytes / minutes }
}

/** Places the calls, ends them after `during`, and waits until their reports and deliveries are complete. */
async function hold(
  { parley, sql }: CostNodes,
  carrier: ChildProcess,
  count: number,
  durationMs: number,
  during: () => Promise<unknown> = () => sleep(durationMs),
): Promise<void> {
  await placeCalls(carrier, count)
  await during()
  const live = await sql<{ id: string }[]>`select id from calls where ended_at is null`
  if (live.length < count) throw new Error(`${count - live.length} of ${count} calls have ended early`)
  const headers = { authorization: `Bearer ${parley.key}` }
  for (const { id } of live) await fetch(`${parley.url}/v1/calls/${id}/end`, { method: 'POST', headers })
  await until('the calls are over', async () => (await unfinished(sql)) === 0, endMs)
}

/** Counts calls without a complete report, and open deliveries. */
async function unfinished(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select (select count(*) from calls where ended_at is null)::int
      + (select count(*) from call_reports where analysis_status = 'pending')::int
      + (select count(*) from webhook_deliveries where status in ('pending', 'delivering'))::int as count`
  return row.count
}

async function minutesSince(sql: Sql, firstAt: Date): Promise<number> {
  const [row] = await sql<[{ minutes: number }]>`
    select sum(extract(epoch from ended_at - started_at) / 60)::float8 as minutes from calls where started_at >= ${firstAt}`
  return row.minutes
}

/** Makes a number answered by the stub engines, and an endpoint for its calls' events. */
async function prepare({ parley, sql }: CostNodes, hookUrl: string): Promise<void> {
  await addNumber(sql)
  const answer = await fetch(`${parley.url}/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${parley.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'costs', url: hookUrl, events: ['call.status', 'call.report'] }),
  })
  if (answer.status !== 201) throw new Error(await answer.text())
}

function folderBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0)
}
