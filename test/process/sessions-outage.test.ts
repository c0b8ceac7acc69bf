/** Voice sessions go on while the database is unreachable, and their record is complete afterwards. */
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { call, loopbackProviders, Page } from '../session/voice-session.ts'
import { TestCluster } from '../store/cluster.ts'
import { postgresPid } from './database.ts'
import { DatabaseRelay } from './database-relay.ts'
import { until } from './machine.ts'
import { type Running, startParley } from './parley.ts'

const env = { PARLEY_PROVIDERS: loopbackProviders, PARLEY_MASTER_KEY: 'm'.repeat(32) }
const awayMs = 5000
const turnEveryMs = 300

type Entry = { source: string; text: string }
type Span = { kind: string; children: Span[] }

const pagesOf = async (parley: Running) => [await Page.join(parley), await Page.join(parley)]

async function askBoth(pages: readonly Page[], said: string[], text: string): Promise<void> {
  said.push(text)
  await Promise.all(pages.map((page) => page.ask(text)))
}

async function everythingIsStored(t: Test, parley: Running, { id }: Page, said: readonly string[]): Promise<void> {
  const read = async (path: string) => (await call(parley, path)).json
  await until('the call has ended', async () => typeof (await read(`/v1/calls/${id}`))['ended_at'] === 'string')
  const { entries } = (await read(`/v1/sessions/${id}/transcript`)) as { entries: Entry[] }
  t.same(
    entries.map(({ source, text }) => [source, text]),
    said.flatMap((text) => [
      ['user', text],
      ['agent', text],
    ]),
  )
  const { events } = (await read(`/v1/calls/${id}/events`)) as { events: { event_type: string }[] }
  const types = events.map(({ event_type }) => event_type)
  t.equal(new Set(types).size, types.length, `each is there once: ${types.join(' ')}`)
  for (const type of ['call.in_progress', 'room.closed', 'recording.ready', 'call.completed'])
    t.ok(types.includes(type))
  const whole = (await read(`/v1/calls/${id}`)) as { end_reason: string; span_tree: { spans: Span[] } }
  t.equal(whole.end_reason, 'user_hangup')
  const [root] = whole.span_tree.spans
  t.equal(root?.children.filter(({ kind }) => kind === 'turn').length, said.length)
}

async function hangUp(pages: readonly Page[]): Promise<void> {
  for (const page of pages) {
    page.send({ type: 'end' })
    await page.first('end')
  }
}

t.test('sessions survive a database that is silent for 5 s, longer than their lease', async (t) => {
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const relay = await DatabaseRelay.start(await cluster.database('empty'))
  t.teardown(() => relay.close())
  const limits = { PARLEY_IDEMPOTENCY_LEASE_MS: '2000', PARLEY_STORE_DEADLINE_MS: '3000' }
  const parley = await startParley({ ...env, DATABASE_URL: relay.url, ...limits })
  t.teardown(() => parley.remove())
  const pages = await pagesOf(parley)
  const said: string[] = []
  await askBoth(pages, said, 'before it goes')
  relay.cut()
  const startedMs = performance.now()
  for (let turn = 1; performance.now() - startedMs < awayMs; turn++) {
    await askBoth(pages, said, `turn ${turn} while it is away`)
    await sleep(turnEveryMs)
  }
  t.ok(said.length > 3, `${said.length} turns`)
  await relay.repair()
  // During these turns the search for calls of dead processes runs several times. It must not end these calls.
  for (let turn = 1; turn <= 20; turn++) {
    await askBoth(pages, said, `turn ${turn} after it came back`)
    await sleep(turnEveryMs)
  }
  await hangUp(pages)
  for (const page of pages) await everythingIsStored(t, parley, page, said)
})

t.test('sessions survive if the embedded Postgres is killed and started again', async (t) => {
  const parley = await startParley(env)
  t.teardown(() => parley.remove())
  const pages = await pagesOf(parley)
  const said: string[] = []
  for (let kills = 0; kills < 3; kills++) {
    await askBoth(pages, said, `before kill ${kills}`)
    process.kill(postgresPid(parley.dataDir) as number, 'SIGKILL')
    for (let turn = 0; turn < 5; turn++) await askBoth(pages, said, `turn ${turn} after kill ${kills}`)
  }
  await hangUp(pages)
  for (const page of pages) await everythingIsStored(t, parley, page, said)
})
