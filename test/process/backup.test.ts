/** Tests `parley backup` beside a server under load, and `parley restore` into another database. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { refused } from '../cli/refused.ts'
import { freshDataDir, testKey } from '../installation.ts'
import { hasEnded } from '../phone/call-rows.ts'
import { callWhen } from '../phone/real-time-calls.ts'
import { call } from '../platform/setup.ts'
import { loopbackAgent, loopbackProviders } from '../session/voice-session.ts'
import { runParley } from './command.ts'
import { openDatabase } from './database.ts'
import { startParley } from './parley.ts'

const masterKey = { PARLEY_MASTER_KEY: 'm'.repeat(32) }
const folder = freshDataDir()
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const file = path.join(folder, 'parley.backup')

const settings = { systemPrompt: 'Tabs\tand\nlines, \\. and \\N, “quotes” and 🎈.', intent: { language: 'en' } }

t.test('a backup under load contains every row that was acknowledged before it began', async (t) => {
  const parley = await startParley(masterKey)
  t.teardown(() => parley.remove())
  const target = { url: parley.url, key: testKey }
  const acknowledged: string[] = []
  let isOver = false
  const write = async (writer: number) => {
    for (let number = 0; !isOver; number++) {
      const { status, text, json } = await call(target, 'POST', '/v1/agents', {
        ...settings,
        name: `${writer}-${number}`,
      })
      if (status !== 201) throw new Error(text)
      acknowledged.push(json<{ id: string }>().id)
    }
  }
  const started = performance.now()
  const writers = [0, 1, 2, 3].map(write)
  // This number of rows needs more than one read from the socket.
  while (acknowledged.length < 300) await Promise.race([...writers, new Promise((resolve) => setTimeout(resolve, 5))])
  const before = [...acknowledged]
  const done = await runParley(['backup', file, '--json'], { dataDir: parley.dataDir, env: masterKey })
  t.equal(done.code, 0, done.stderr)
  isOver = true
  await Promise.all(writers)
  const perSecond = acknowledged.length / ((performance.now() - started) / 1000)
  t.comment(`${acknowledged.length} rows, ${Math.round(perSecond)} a second, ${before.length} before the backup`)
  t.ok(acknowledged.length > before.length, 'the server was written to meanwhile')
  t.equal(statSync(file).mode & 0o777, 0o600)

  const elsewhere = freshDataDir()
  const restored = await runParley(['restore', file, '--json'], { dataDir: elsewhere })
  t.equal(restored.code, 0, restored.stderr)
  const [written, read] = [done, restored].map(({ stdout }) => JSON.parse(stdout) as Record<string, unknown>)
  t.match(read, { ...written })
  const second = await startParley(masterKey, elsewhere)
  t.teardown(() => second.remove())
  const there = { url: second.url, key: testKey }
  const sql = openDatabase(elsewhere)
  const stored = await sql<{ id: string }[]>`select id from agents`
  await sql.end()
  const ids = new Set(stored.map(({ id }) => id))
  t.same(
    before.filter((id) => !ids.has(id)),
    [],
  )
  const agent = await call(there, 'GET', `/v1/agents/${before.at(-1) ?? ''}`)
  t.match(agent.json(), { systemPrompt: settings.systemPrompt })
  const next = await call(there, 'POST', '/v1/agents', { ...settings, name: 'next' })
  t.equal(next.status, 201, next.text)
})

t.test('restore refuses an incomplete backup, and leaves the database empty', async (t) => {
  const dataDir = path.join(folder, 'empty')
  const text = gunzipSync(readFileSync(file)).toString()
  const damaged = path.join(folder, 'damaged')
  const restore = (content: Buffer) => {
    writeFileSync(damaged, content)
    return runParley(['restore', damaged], { dataDir })
  }
  const [table = '', row = ''] = text.split('\n').slice(1)
  const cases: [Buffer, RegExp][] = [
    [Buffer.from(text), /not a whole backup/],
    [readFileSync(file).subarray(0, -20), /not a whole backup|not whole/],
    [gzipSync(''), /not whole/],
    [gzipSync('{"format":"another"}\n'), /not a backup that this version/],
    [gzipSync(text.slice(0, text.indexOf('{"tables"'))), /not whole: it was cut off/],
    [gzipSync(text.replace(`${row}\n`, '')), /rows of its table \w+ do not fit/],
    [
      gzipSync(text.replace('"table":"agents"', '"table":"pg_class"')),
      /pg_class of the backup is not one of its schema/,
    ],
    [gzipSync(text.replace(/"schema":\d+/, '"schema":9999')), /has schema 9999, and this version of Parley knows \d+/],
    [gzipSync(text.replace(/"schema":\d+/, '"schema":47')), /has schema 47 from before the first release: restore it/],
  ]
  const header = text.slice(0, text.indexOf('\n') + 1)
  const withTable = (shape: object) => gzipSync(`${header}${JSON.stringify(shape)}\n`)
  const long = Buffer.alloc(64 * 1024 * 1024, 'x')
  cases.push(
    [gzipSync('null\n'), /not a backup that this version/],
    [gzipSync(text.replace(/"schema":\d+/, '"schema":0.5')), /not a backup that this version/],
    [gzipSync(text.replace(/"schema":\d+/, '"schema":-1')), /not a backup that this version/],
    [gzipSync(long), /not whole/],
    [gzipSync(Buffer.concat([Buffer.from(`${header}${table}\n`), long])), /not whole/],
    [withTable({ table: 'agents', columns: [['id']], counters: {} }), /not whole/],
    [withTable({ table: 'agents', columns: ['id'], counters: { id: '1); drop table agents; --' } }), /not whole/],
    [withTable({ table: 'agents', columns: ['id'], counters: null }), /not whole/],
    [
      withTable({ table: 'agents"; drop table organizations; --', columns: ['id'], counters: {} }),
      /of the backup is not one of its schema/,
    ],
    [gzipSync(text.replace(/"columns":\["(\w+)","(\w+)"/, '"columns":["$1,$2"')), /is not one of its schema/],
    [gzipSync(text.replace('"counters":{}', '"counters":{"no_such_column":"1"}')), /is not one of its schema/],
  )
  for (const [content, reason] of cases) refused(t, await restore(content), reason)
  const organizations = await runParley(['org', 'list'], { dataDir })
  refused(t, organizations, /The database has no tables of Parley/)
  t.equal((await runParley(['restore', file], { dataDir })).code, 0)
  refused(
    t,
    await runParley(['restore', file], { dataDir }),
    /is in use already: a backup is restored into an empty one/,
  )
})

t.test('a server on a restored copy hangs up no call of the installation that made the backup', async (t) => {
  const env = { ...masterKey, PARLEY_PROVIDERS: loopbackProviders }
  const parley = await startParley(env)
  t.teardown(() => parley.remove())
  const target = { url: parley.url, key: testKey }
  const started = await call(target, 'POST', '/v1/sessions/phone', { to: '+15005550006', ...loopbackAgent })
  t.equal(started.status, 200, started.text)
  const { sessionId } = started.json<{ sessionId: string }>()
  await callWhen(target, sessionId, ({ status }) => status === 'in_progress')
  const live = path.join(folder, 'live.backup')
  const done = await runParley(['backup', live], { dataDir: parley.dataDir, env: masterKey })
  t.equal(done.code, 0, done.stderr)
  const elsewhere = freshDataDir()
  const restored = await runParley(['restore', live], { dataDir: elsewhere })
  t.equal(restored.code, 0, restored.stderr)
  const copy = await startParley(env, elsewhere)
  t.teardown(() => copy.remove())
  const openLegs = async ({ dataDir }: { dataDir: string }) => {
    const sql = openDatabase(dataDir)
    const rows = await sql`select id from call_legs where ended_at is null`
    await sql.end()
    return rows.length
  }
  // A leg counts as orphaned only after two checks, 5 s apart, so here the restore itself has closed the leg.
  t.equal(await openLegs(copy), 0, 'there is none to hang up')
  const ended = await callWhen({ url: copy.url, key: testKey }, sessionId, hasEnded)
  t.match(ended, { status: 'failed' })
  t.equal(await openLegs(parley), 1, 'the call goes on')
  t.match(await callWhen(target, sessionId, () => true), { status: 'in_progress' })
})
