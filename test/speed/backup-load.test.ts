/**
 * Runs a backup under 200 requests a second, and restores it elsewhere. If a row was acknowledged before the backup
 * began, it must be there unchanged. Uses the embedded Postgres and an external one.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import path from 'node:path'
import postgres from 'postgres'
import t, { type Test } from 'tap'
import { freshDataDir, testKey } from '../installation.ts'
import { call } from '../platform/setup.ts'
import { runParley } from '../process/command.ts'
import { databaseUrlOf } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { type Running, startParley } from '../process/parley.ts'
import { ask, postJson, responses } from '../router/requests.ts'
import { TestCluster } from '../store/cluster.ts'

t.setTimeout(300_000)

const perSecondLeast = 200
/** The rate of the load. It is above the asserted rate, because timers on a busy machine are late. */
const perSecond = 230
/** Requests are sent for this time at most. */
const loadMsMax = 90_000
/** The backup begins after this time and this number of acknowledged requests. */
const backupAtMs = 5_000
const acknowledgedLeast = 1_000
const everyMs = 20
/** A request's row is written within this time after its answer (docs/backup.md). */
const settledMs = 2_000

const prices = ['million_input_tokens', 'million_output_tokens'].map((unit) => ({
  model: '*',
  unit,
  microUsd: 5_000_000,
  asOf: '2026-11',
}))
const env = {
  PARLEY_MASTER_KEY: 'm'.repeat(32),
  PARLEY_PROVIDERS: JSON.stringify([{ id: 'loopback', adapter: 'loopback', prices }]),
}

/** The loopback model is named, because the rule-based model is free and would be chosen first. */
const pinned = { routing: { mode: 'explicit', model: 'loopback/loopback' } }

type Kind = 'agent' | 'webhook' | 'request'
type Acknowledged = { kind: Kind; id: string; atMs: number }

/** Sends at a fixed rate until `isOver`, without waiting for answers. Resolves with the rate once all are answered. */
async function load(
  target: Running,
  acknowledged: Acknowledged[],
  failures: string[],
  isOver: () => boolean,
): Promise<number> {
  const startedMs = performance.now()
  const open: Promise<void>[] = []
  while (!isOver() && performance.now() - startedMs < loadMsMax) {
    const due = Math.floor(((performance.now() - startedMs) / 1000) * perSecond)
    while (open.length < due) open.push(sendOne(target, open.length, acknowledged, failures))
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  const sentPerSecond = open.length / ((performance.now() - startedMs) / 1000)
  await Promise.all(open)
  return sentPerSecond
}

const webhooksMax = 45

async function sendOne(target: Running, number: number, acknowledged: Acknowledged[], failures: string[]) {
  try {
    const kind: Kind =
      number % 4 !== 3 ? 'request' : number % 20 === 3 && number < 20 * webhooksMax ? 'webhook' : 'agent'
    const id = await { agent: makeAgent, webhook: makeWebhook, request: makeRequest }[kind](target, number)
    acknowledged.push({ kind, id, atMs: performance.now() })
  } catch (error) {
    failures.push(String(error))
  }
}

async function makeAgent(target: Running, number: number): Promise<string> {
  const body = { name: `agent ${number}`, systemPrompt: 'Tabs\tand\nlines, \\. and 🎈.', intent: { language: 'en' } }
  return createdId(await call(target, 'POST', '/v1/agents', body))
}

async function makeWebhook(target: Running, number: number): Promise<string> {
  const url = `https://hooks.example/${number}`
  return createdId(await call(target, 'POST', '/v1/webhooks', { name: `hook ${number}`, url, events: ['call.report'] }))
}

function createdId({ status, text, json }: Awaited<ReturnType<typeof call>>): string {
  if (status !== 201) throw new Error(text)
  return json<{ id: string }>().id
}

async function makeRequest(target: Running, number: number): Promise<string> {
  const { status, text, headers } = await postJson(target, responses, ask(`hello ${number}`, pinned), {
    'idempotency-key': randomUUID(),
  })
  const id = headers.get('service-request-id')
  if (status !== 200 || id === null) throw new Error(`${status} ${text}`)
  return id
}

const tables = {
  agents: { kind: 'agent', id: 'id', columns: '*' },
  webhook_endpoints: { kind: 'webhook', id: 'id', columns: '*' },
  // Columns that are not compared, because a later settlement changes them, are missing here.
  idempotency_keys: {
    kind: 'request',
    id: 'request_id',
    columns: 'organization_id, operation, key_digest, content_hash, request_id, admitted_at, expires_at',
  },
  requests: { kind: 'request', id: 'request_id', columns: '*' },
  attempts: { kind: 'request', id: 'request_id', columns: '*' },
} as const

/** Each row's text by its id. */
async function rowsOf(sql: postgres.Sql, table: keyof typeof tables): Promise<Map<string, string>> {
  const { id, columns } = tables[table]
  const rows = await sql.unsafe<{ id: string; row: string }[]>(
    `select ${id} as id, to_jsonb(r)::text as row from (select ${columns} from ${table}) r`,
  )
  return new Map(rows.map(({ id, row }) => [id, row]))
}

function connect(t: Test, databaseUrl: string): postgres.Sql {
  const url = new URL(databaseUrl)
  const host = url.searchParams.get('host') ?? ''
  const sql = postgres({
    ...{ host, database: url.pathname.slice(1), username: 'parley', max: 1, onnotice: () => {} },
    connection: { 'app.organization': '*', 'app.world': '*' },
  })
  t.teardown(() => sql.end({ timeout: 1 }))
  return sql
}

/** Asserts that the credit plus the reserved part equals the sum of the movements, also as of the backup's moment. */
async function checkCredit(t: Test, sql: postgres.Sql) {
  const [money] = await sql<{ credit: string; moved: string; given: string; spent: string }[]>`
    select (select sum(credit_micro_usd) from organizations) + (select coalesce(sum(micro_usd), 0) from reservations) as credit,
      (select sum(micro_usd) from credit_movements) as moved,
      (select sum(micro_usd) from credit_movements where micro_usd > 0) as given,
      (select coalesce(sum(cost_micro_usd), 0) from requests) as spent`
  t.equal(money?.credit, money?.moved)
  t.equal(Number(money?.moved), Number(money?.given) - Number(money?.spent), 'what was spent is what the rows cost')
  t.ok(Number(money?.spent) > 0)
}

async function backUpUnderLoad(t: Test, source: Record<string, string>, restored: Record<string, string>) {
  const folder = freshDataDir()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'parley.backup')
  const parley = await startParley({ ...env, ...source })
  t.teardown(() => parley.remove())
  const command = (args: string[], more = source, dataDir = parley.dataDir) =>
    runParley(args, { dataDir, env: { ...env, ...more } })
  const credited = await command(['org', 'credit', 'local', '1000'])
  t.equal(credited.code, 0, credited.stderr)

  const acknowledged: Acknowledged[] = []
  const failures: string[] = []
  let isOver = false
  const loading = load(parley, acknowledged, failures, () => isOver)
  await new Promise((resolve) => setTimeout(resolve, backupAtMs))
  await until(
    `rows; ${failures[0] ?? 'no failures'}`,
    () => acknowledged.length >= acknowledgedLeast || failures.length > 0,
    loadMsMax,
  )
  const before = [...acknowledged]
  const beganAtMs = performance.now()
  const done = await command(['backup', file, '--json'])
  const tookMs = performance.now() - beganAtMs
  const after = acknowledged.length
  isOver = true
  const sentPerSecond = await loading
  t.equal(done.code, 0, done.stderr)
  t.same(failures.slice(0, 3), [], `${failures.length} failures`)
  t.ok(sentPerSecond >= perSecondLeast, `${Math.round(sentPerSecond)} a second`)
  t.ok(after > before.length, 'the server was written to meanwhile')
  t.comment(
    `${Math.round(sentPerSecond)} a second, ${before.length} acknowledged before the backup, ${after - before.length} in its ${Math.round(tookMs)} ms, ${acknowledged.length} in all`,
  )

  const elsewhere = path.join(folder, 'elsewhere')
  const read = await command(['restore', file, '--json'], restored, elsewhere)
  t.equal(read.code, 0, read.stderr)
  const second = await startParley({ ...env, ...restored }, elsewhere)
  t.teardown(() => second.remove())
  const [from, to] = [source, restored].map((variables, at) =>
    connect(t, variables['DATABASE_URL'] ?? databaseUrlOf(at === 0 ? parley.dataDir : elsewhere)),
  )
  if (!from || !to) throw new Error('two databases')
  for (const table of Object.keys(tables) as (keyof typeof tables)[]) {
    const [was, is] = [await rowsOf(from, table), await rowsOf(to, table)]
    const isOfLedger = table === 'requests' || table === 'attempts'
    const wanted = before.filter(
      ({ kind, atMs }) => kind === tables[table].kind && (!isOfLedger || atMs <= beganAtMs - settledMs),
    )
    t.ok(wanted.length > 20, `${table}: ${wanted.length} rows`)
    t.same(
      wanted.filter(({ id }) => !was.has(id) || is.get(id) !== was.get(id)),
      [],
      table,
    )
  }
  await checkCredit(t, to)
  const agent = before.find(({ kind }) => kind === 'agent')
  t.match((await call({ url: second.url, key: testKey }, 'GET', `/v1/agents/${agent?.id ?? ''}`)).json(), {
    id: agent?.id,
  })
}

t.test('a backup of the embedded Postgres under load is complete, without failures', (t) => backUpUnderLoad(t, {}, {}))

t.test('a backup of an external Postgres under load is complete and fails no request', async (t) => {
  const [one, other] = [await TestCluster.start(), await TestCluster.start()]
  t.teardown(async () => {
    await one.stop()
    await other.stop()
  })
  const [source, restored] = [await one.database('empty'), await other.database('empty')]
  await backUpUnderLoad(t, { DATABASE_URL: source }, { DATABASE_URL: restored })
})
