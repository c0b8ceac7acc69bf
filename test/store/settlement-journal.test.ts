/** If requests are served while the database is unreachable, each settlement is written later, and counts once. */
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { Settlement } from '../../domain/billing/ledger.ts'
import type { KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { StoreOptions } from '../../store/store.ts'
import { DatabaseRelay } from '../process/database-relay.ts'
import { until } from '../process/machine.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, silent, TestCluster } from './cluster.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const costMicroUsd = 10

function settlement(organizationId: string, requestId: string): Settlement {
  const row = ledgerRow(organizationId, requestId, { costMicroUsd })
  return { row, choice: choiceIn('en'), status: 'succeeded', reservedMicroUsd: 0 }
}

/** A store with a separate data folder. The test can make its database unreachable. */
async function setup(t: Test, options: Partial<StoreOptions> = {}) {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'parley-test-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const databaseUrl = await cluster.database()
  const relay = await DatabaseRelay.start(databaseUrl)
  t.teardown(() => relay.close())
  const store = await cluster.store(t, relay.url, { dataDir, ...options })
  const { id } = await organization(store, 'payer', 1_000)
  const sql = cluster.sql(t, databaseUrl)
  const state = async () => {
    const requests = await sql<{ id: string }[]>`select request_id as id from requests order by request_id`
    const [payer] = await sql<{ credit: number }[]>`select credit_micro_usd as credit from organizations`
    const [choices] = await sql<{ count: number }[]>`select count(*)::int as count from choices`
    return { requests: requests.map((row) => row.id), credit: payer?.credit, choices: choices?.count }
  }
  return { dataDir, databaseUrl, folder: path.join(dataDir, 'settlements'), relay, store, id, sql, state }
}

t.test('settlements wait on the disk during a database outage, and are then written once', async (t) => {
  const { folder, relay, store, id, state } = await setup(t)
  relay.cut()
  await settled(store, settlement(id, 'req_1'))
  await settled(store, settlement(id, 'req_2'))
  t.equal(store.ledger.waiting(), 2)
  t.ok(store.ledger.journalBytes() > 0)
  const [file = ''] = readdirSync(folder)
  t.equal(readFileSync(path.join(folder, file), 'utf8').trim().split(/\n+/).length, 2)
  await relay.repair()
  await until('they are written', () => store.ledger.waiting() === 0)
  t.same(await state(), { requests: ['req_1', 'req_2'], credit: 980, choices: 1 })
  t.same([readdirSync(folder), store.ledger.journalBytes()], [[], 0])
})

t.test('an idempotency key that a killed database has lost is stored again with its settlement', async (t) => {
  const { relay, store, id, sql } = await setup(t)
  const use = (requestId: string): KeyUse => ({
    ...{ organizationId: id, operation: 'createResponse', requestId },
    ...{ keyDigest: 'ab'.repeat(32), contentHash: 'cd'.repeat(32) },
  })
  t.same(await store.idempotency.admit(use('req_1'), 'dispatched'), { outcome: 'admitted' })
  await sql`delete from idempotency_keys`
  relay.cut()
  await settled(store, { ...settlement(id, 'req_1'), use: use('req_1') })
  await relay.repair()
  await until('it is written', () => store.ledger.waiting() === 0)
  const repeat = await store.idempotency.admit(use('req_2'), 'dispatched')
  t.same(repeat, { outcome: 'already_started', originalRequestId: 'req_1' })
  t.same(
    (await sql<{ status: string }[]>`select status from idempotency_keys`).map(({ status }) => status),
    ['succeeded'],
  )
})

t.test('settlements fail during a database outage, and are written after the outage', async (t) => {
  const errors: string[] = []
  const log = { ...silent, error: (_fields: object, message: string) => void errors.push(message) }
  const clock = storeClock()
  const { folder, relay, store, id, state } = await setup(t, { log, clock })
  relay.cut()
  await settled(store, settlement(id, 'req_1'))
  await until('the outage is noticed', () => errors.some((error) => error.startsWith('the database does not answer')))
  await clock.leap(2_000)
  t.same([store.ledger.waiting(), store.isDatabaseAway()], [1, true])
  await relay.repair()
  await until('it is written', () => store.ledger.waiting() === 0)
  t.equal(store.isDatabaseAway(), false)
  t.same(await state(), { requests: ['req_1'], credit: 990, choices: 1 })
  t.same(readdirSync(folder), [])
})

for (const [name, code] of [
  ['a full disk', '53100'],
  ['a time-out', '57014'],
  ['a disk error', '58030'],
] as const)
  t.test(`${name} of the database loses no settlement`, async (t) => {
    const { store, id, sql, state } = await setup(t)
    await sql.unsafe(
      `create function refuse() returns trigger language plpgsql as 'begin raise exception using errcode = ''${code}''; end'`,
    )
    await sql`create trigger refusal before insert on requests for each row execute function refuse()`
    await settled(store, settlement(id, 'req_1'))
    t.equal(store.ledger.waiting(), 1)
    await sql`drop trigger refusal on requests`
    await until('it is written', () => store.ledger.waiting() === 0)
    t.same(await state(), { requests: ['req_1'], credit: 990, choices: 1 })
  })

/** From now on the database refuses rows of the request `req_bad`, with a message that quotes a secret. */
async function refuseBad({ sql }: Awaited<ReturnType<typeof setup>>, table: string): Promise<void> {
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin
      if new.request_id = 'req_bad' then raise exception 'k4n4ry' using errcode = '22023'; end if;
      return new;
    end $$;
    create trigger refusal before insert on ${table} for each row execute function refuse()`)
}

for (const isAway of [false, true])
  t.test(`a settlement that the database refuses is kept, ${isAway ? 'after an outage' : 'at once'}`, async (t) => {
    const logged: object[] = []
    const log = { ...silent, error: (fields: object, message: string) => void logged.push({ ...fields, message }) }
    const clock = storeClock()
    const setting = await setup(t, { log, clock })
    const { folder, relay, store, id, sql, state } = setting
    await refuseBad(setting, 'requests')
    if (isAway) relay.cut()
    for (const requestId of ['req_1', 'req_bad', 'req_2']) store.ledger.settle(settlement(id, requestId))
    await store.ledger.drain()
    if (isAway) await until('the outage is noticed', () => store.isDatabaseAway())
    if (isAway) await relay.repair()
    await until('the others are written', () => store.ledger.waiting() === 0)
    t.same(await state(), { requests: ['req_1', 'req_2'], credit: 980, choices: 1 })
    const [file = ''] = readdirSync(path.join(folder, 'refused'))
    t.equal(
      readFileSync(path.join(folder, 'refused', file), 'utf8')
        .trim()
        .split(/\n+/).length,
      1,
    )
    const [refusal] = logged.filter((fields) => 'requestId' in fields)
    t.match(refusal, { requestId: 'req_bad', code: '22023', message: /settlements\/refused/ })
    t.notOk(JSON.stringify(refusal).includes('k4n4ry'), 'the log does not quote the database')

    await sql`drop trigger refusal on requests`
    renameSync(path.join(folder, 'refused', file), path.join(folder, file))
    await clock.leap(10_000)
    await until('it is adopted', () => !existsSync(path.join(folder, file)))
    t.same(await state(), { requests: ['req_1', 'req_2', 'req_bad'], credit: 970, choices: 1 })
  })

t.test('an idempotency key that the database refuses delays no settlement of an outage', async (t) => {
  const setting = await setup(t)
  const { relay, store, id, sql, state } = setting
  const use = (requestId: string, digit: string): KeyUse => ({
    ...{ organizationId: id, operation: 'createResponse', requestId },
    ...{ keyDigest: digit.repeat(64), contentHash: 'cd'.repeat(32) },
  })
  await refuseBad(setting, 'idempotency_keys')
  relay.cut()
  const uses = [use('req_1', 'a'), use('req_bad', 'b')]
  for (const each of uses) await settled(store, { ...settlement(id, each.requestId), use: each })
  await relay.repair()
  await until('they are written', () => store.ledger.waiting() === 0)
  t.same((await state()).requests, ['req_1', 'req_bad'])
  const restored = await sql<{ id: string }[]>`select request_id as id from idempotency_keys`
  t.same(
    restored.map((row) => row.id),
    ['req_1'],
  )
})

t.test('the next process writes the settlements of an ended process, except a truncated record', async (t) => {
  const { dataDir, databaseUrl, folder, relay, store, id, sql, state } = await setup(t)
  relay.cut()
  await settled(store, settlement(id, 'req_1'))
  await store.close({ stopPostgres: false })
  const file = path.join(folder, readdirSync(folder)[0] ?? '')
  const whole = readFileSync(file, 'utf8').trim()
  appendFileSync(file, `\n${whole.replace('req_1', 'req_2').slice(0, -20)}`)
  const clock = storeClock()
  await cluster.store(t, databaseUrl, { dataDir, clock })
  // The database was unreachable when the process ended, so the process's row still says that the process lives.
  await sql`delete from instances where id = ${path.basename(file, '.jsonl')}`
  await clock.leap(10_000)
  await until('the file is gone', () => !existsSync(file))
  t.same(await state(), { requests: ['req_1'], credit: 990, choices: 1 })
})

t.test('a process does not write the settlements of another database', async (t) => {
  const { dataDir, folder, relay, store, id } = await setup(t)
  relay.cut()
  await settled(store, settlement(id, 'req_1'))
  await store.close({ stopPostgres: false })
  const reasons: string[] = []
  const log = { ...silent, warn: ({ err }: { err?: Error }) => void reasons.push(String(err)) }
  const clock = storeClock()
  await cluster.store(t, await cluster.database(), { dataDir, clock, log })
  await clock.leap(10_000)
  await until('it is logged', () => reasons.some((reason) => reason.includes('settlements of another database')))
  t.equal(readdirSync(folder).length, 1)
})

t.test('while the journal is full, no new request is admitted until the database is back', async (t) => {
  const { relay, store, id, state } = await setup(t, { journalBytesMax: 100 })
  t.ok(store.ledger.hasRoom())
  relay.cut()
  await settled(store, settlement(id, 'req_1'))
  t.notOk(store.ledger.hasRoom())
  await settled(store, settlement(id, 'req_2'))
  await relay.repair()
  await until('there is room', () => store.ledger.hasRoom())
  t.same((await state()).requests, ['req_1', 'req_2'], 'a request under way is settled too')
})

t.test(
  'if the data folder cannot be written, the journal counts as full until the database can be written',
  async (t) => {
    const { dataDir, relay, store, id, state } = await setup(t)
    rmSync(dataDir, { recursive: true })
    appendFileSync(dataDir, 'a file in the place of the folder')
    relay.cut()
    const written = settled(store, settlement(id, 'req_1'))
    await until('there is no room', () => !store.ledger.hasRoom())
    await relay.repair()
    await written
    t.same((await state()).requests, ['req_1'])
    await until('there is room, because the database can write', () => store.ledger.hasRoom())
  },
)

t.test('if the data folder cannot be written, a refused settlement causes no loss of another settlement', async (t) => {
  const setting = await setup(t)
  const { dataDir, relay, store, id, state } = setting
  rmSync(dataDir, { recursive: true })
  appendFileSync(dataDir, 'a file in the place of the folder')
  await refuseBad(setting, 'requests')
  relay.cut()
  for (const requestId of ['req_bad', 'req_1']) store.ledger.settle(settlement(id, requestId))
  const written = store.ledger.drain()
  await until('there is no room', () => !store.ledger.hasRoom())
  await relay.repair()
  await written
  t.same((await state()).requests, ['req_1'])
})

t.test('a journal file that cannot be read does not delay the other files', async (t) => {
  const { dataDir, databaseUrl, folder, relay, store, id, sql, state } = await setup(t)
  relay.cut()
  await settled(store, settlement(id, 'req_1'))
  await store.close({ stopPostgres: false })
  const name = readdirSync(folder)[0] ?? ''
  appendFileSync(path.join(folder, '0.jsonl'), '{"columns":"of another version"}\n')
  const clock = storeClock()
  await cluster.store(t, databaseUrl, { dataDir, clock })
  await sql`delete from instances where id = ${path.basename(name, '.jsonl')}`
  await clock.leap(10_000)
  await until('the file is gone', () => !existsSync(path.join(folder, name)))
  t.same((await state()).requests, ['req_1'])
  t.same(readdirSync(folder), ['0.jsonl'])
})

t.test('if another process has written the journal file, the journal has room again', async (t) => {
  const { folder, relay, store, id } = await setup(t, { journalBytesMax: 100 })
  relay.cut()
  await settled(store, settlement(id, 'req_1'))
  t.notOk(store.ledger.hasRoom())
  rmSync(path.join(folder, readdirSync(folder)[0] ?? ''))
  await relay.repair()
  await until('there is room', () => store.ledger.hasRoom())
  t.equal(store.ledger.waiting(), 0)
})
