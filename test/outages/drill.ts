/**
 * `make drill`: the database is killed, frozen, cut off and filled under 100 requests and four calls a second. Prints
 * how fast requests were refused, when all was normal again, and what was lost. Takes about a minute. The argument says
 * how many seconds an outage lasts.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { settingsOf } from '../phone/outside-carrier.ts'
import { insertOnlyTenantsNumber } from '../phone/stored-number.ts'
import { openDatabase } from '../process/database.ts'
import { DatabaseRelay } from '../process/database-relay.ts'
import { freePort, until } from '../process/machine.ts'
import { startOwnCarrier } from '../process/own-carrier.ts'
import { startParley } from '../process/parley.ts'
import { masterKey } from '../rmsg/provider-events.ts'
import { Calls } from './calls.ts'
import { Load, type Outcome } from './load.ts'
import { DrillPostgres } from './postgres.ts'

const perSecond = 100
/** The drill is a load in real time, so each phase has a fixed length and waits for no event. */
const awayMs = Number(process.argv[2] ?? 10) * 1_000
const calmMs = 4_000

type Outage = { name: string; begin: () => void; end: () => unknown }
type Period = { name: string; beginMs: number; endMs: number; calmUntilMs: number }

const postgres = await DrillPostgres.start()
const relay = await DatabaseRelay.start(postgres.url)
const carrier = await startOwnCarrier()
const parley = await startParley({
  ...settingsOf(carrier, await freePort()),
  PARLEY_MASTER_KEY: masterKey,
  DATABASE_URL: relay.url,
})
try {
  process.exitCode = (await drill()) === 0 ? 0 : 1
} finally {
  await parley.remove()
  await carrier.close()
  relay.close()
  postgres.stop()
}

async function drill(): Promise<number> {
  say(`${perSecond} requests a second; half have an idempotency key, which must be stored. Four calls a second.`)
  if (!postgres.hasDisk) say('skipped: a full disk, because no tmpfs may be mounted here')
  const load = new Load(parley)
  const calls = new Calls(parley, carrier, await ownNumber())
  load.start(perSecond)
  calls.start()
  await sleep(calmMs)
  const periods: Period[] = []
  for (const outage of outages()) {
    const beginMs = performance.now()
    outage.begin()
    await sleep(awayMs)
    const endMs = performance.now()
    await outage.end()
    await sleep(calmMs)
    periods.push({ name: outage.name, beginMs, endMs, calmUntilMs: performance.now() })
    await load.answered()
  }
  const outcomes = await load.end()
  say(`sent: ${outcomes.length} of ${load.due} requests, also to /readyz`)
  for (const period of periods) print(period, outcomes)
  return (await calls.end(say)) + (await countLost(outcomes))
}

/** Gives the organization a number to call from. */
async function ownNumber(): Promise<string> {
  const e164 = '+14155550100'
  const sql = openDatabase({ databaseUrl: postgres.url })
  await insertOnlyTenantsNumber(sql, { e164 })
  await sql.end()
  return e164
}

function outages(): Outage[] {
  const all: Outage[] = [
    { name: 'killed', begin: () => postgres.kill(), end: () => postgres.revive() },
    { name: 'frozen', begin: () => postgres.freeze(), end: () => postgres.thaw() },
    { name: 'cut off', begin: () => relay.silence(), end: () => relay.endSilence() },
  ]
  const full = { name: 'disk full', begin: () => postgres.fill(), end: () => emptied() }
  return postgres.hasDisk ? [...all, full] : all
}

/** Frees the filled disk. If Postgres has ended because there was no room for its log, starts Postgres again. */
async function emptied(): Promise<void> {
  postgres.empty()
  if (!postgres.isRunning) await postgres.revive()
}

function print({ name, beginMs, endMs, calmUntilMs }: Period, outcomes: readonly Outcome[]): void {
  const all = outcomes.filter(({ atMs }) => atMs >= beginMs && atMs < calmUntilMs)
  const during = all.filter(({ atMs }) => atMs < endMs)
  const refused = during.filter(({ kind, status }) => kind === 'keyed' && status === 503)
  const times = refused.map(({ tookMs }) => tookMs).sort((a, b) => a - b)
  const keyless = during.filter(({ kind }) => kind === 'keyless')
  const served = keyless.filter(({ status }) => status === 200).length
  const checks = all.filter(({ kind }) => kind === 'ready')
  const notReady = checks.find(({ status }) => status !== 200)
  const slowest = Math.max(...checks.map(({ tookMs }) => tookMs))
  const failures = all.filter(({ status, atMs }) => status !== 200 && atMs >= endMs)
  const normalMs = Math.max(0, ...failures.map(({ atMs, tookMs }) => atMs + tookMs - endMs))
  const others = during.filter(({ status }) => status !== 200 && status !== 503).length
  say(
    `${name.padEnd(9)} refused ${refused.length} in p50 ${ms(at(times, 0.5))}, p99 ${ms(at(times, 0.99))}` +
      `; without the database ${served} of ${keyless.length} served` +
      `; not ready after ${notReady ? ms(notReady.atMs + notReady.tookMs - beginMs) : 'never'}, /readyz at most ${ms(slowest)}` +
      `; normal ${ms(normalMs)} after the return; other answers ${others}`,
  )
}

/**
 * Returns the number of served requests without a ledger row, and of acknowledged idempotency keys that are not stored.
 */
async function countLost(outcomes: readonly Outcome[]): Promise<number> {
  const served = outcomes.filter(({ kind, status }) => kind !== 'ready' && status === 200)
  const sql = openDatabase({ databaseUrl: postgres.url })
  try {
    const idsIn = async (table: string) => {
      const rows = await sql<{ id: string }[]>`select request_id as id from ${sql(table)}`
      return new Set(rows.map(({ id }) => id))
    }
    const missing = async () => {
      const settled = await idsIn('requests')
      return served.filter(({ requestId }) => !settled.has(requestId)).length
    }
    await until('all served requests are settled', async () => (await missing()) === 0).catch(() => {})
    const unsettled = await missing()
    const keys = await idsIn('idempotency_keys')
    const keyed = served.filter(({ kind }) => kind === 'keyed')
    const forgotten = keyed.filter(({ requestId }) => !keys.has(requestId)).length
    say(`lost: ${unsettled} of ${served.length} settlements, ${forgotten} of ${keyed.length} idempotency keys`)
    return unsettled + forgotten
  } finally {
    await sql.end()
  }
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0
}

function ms(value: number): string {
  return value < 1_000 ? `${value.toFixed(0)} ms` : `${(value / 1_000).toFixed(1)} s`
}

function say(text: string): void {
  console.log(text)
}
