/** Tests listProviderHealth: states, figures of all processes, and the reports that processes write. */
import t from 'tap'
import { Catalog } from '../../domain/catalog/catalog.ts'
import { Health } from '../../domain/health/health.ts'
import { createHealthReports, type ModelReport } from '../../domain/health/health-reports.ts'
import { TestClock } from '../clock.ts'
import { failure, healthLimits, model, provider } from '../domain/fakes.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import { organization, TestCluster } from '../store/cluster.ts'
import { answer, call, pinned, putKey, startOwnAdministered, stubProviders } from './setup.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub),
  PARLEY_CIRCUIT_FAILURES_MAX: '3',
})

type Shown = Record<string, unknown> & { provider: string; stage: string; model: string; path: string }

async function chatAt(target: Target, id: string, path = 'stream'): Promise<Shown | undefined> {
  const all = (await call(target, 'GET', '/v1/providers/health')).json<Shown[]>()
  return all.find((each) => each.provider === id && each.stage === 'llm' && each.path === path)
}

const nothing = { errorRate: null, firstByteMs: null, p95Ms: null, realTimeFactor: null, samples: 0, asOfMs: null }
const report = (more: Partial<ModelReport>): ModelReport => ({
  ...{ key: 'llm:main/chat', path: 'stream', blocked: null, isSuspect: false, ...nothing },
  ...more,
})

t.test('listProviderHealth shows whose key serves a model, and whether recent requests have failed', async (t) => {
  const acme = await admin.organization('acme')
  t.match(await chatAt(acme, 'main'), {
    model: 'chat',
    state: 'unknown',
    keySource: 'MANAGED',
    samples: 0,
    processes: 0,
  })
  t.match(await chatAt(acme, 'other'), { state: 'no_credential', reason: 'no_credential', keySource: null })
  await putKey(acme, 'other', 'key-of-acme')
  t.match(await chatAt(acme, 'other'), { state: 'unknown', reason: null, keySource: 'BYOK' })
  const beta = await admin.organization('beta')
  t.match(await chatAt(beta, 'other'), { state: 'no_credential' }, 'another organization does not see the key')
  for (let requests = 0; requests < 4; requests++) t.equal((await answer(parley, pinned('main/chat'))).status, 200)
  const healthy = await chatAt(acme, 'main')
  t.match(healthy, { state: 'ok', errorRate: 0, samples: 4, processes: 1, reason: null })
  t.match(healthy?.['asOf'], /^2\d{3}-/)
})

t.test('listProviderHealth shows the worst state that any process reports', async (t) => {
  const acme = await admin.organization('worst')
  const { healthReports } = admin.store
  await healthReports.write([report({ errorRate: 0.5, firstByteMs: 90_000, samples: 7, asOfMs: Date.now() })])
  const degraded = {
    state: 'degraded',
    reason: 'failures',
    errorRate: 0.5,
    firstByteMs: 90_000,
    samples: 11,
    processes: 2,
  }
  t.match(await chatAt(acme, 'main'), degraded)
  await healthReports.write([report({ blocked: { reason: 'credential_cooling', retryAfterMs: 60_000 } })])
  const open = await chatAt(acme, 'main')
  t.match(open, { state: 'open', reason: 'credential_cooling' })
  t.ok(Number(open?.['retryAfterMs']) > 50_000)
  await putKey(acme, 'main', 'key-of-acme')
  t.match(await chatAt(acme, 'main'), { state: 'ok', keySource: 'BYOK' }, 'the pause is that of another credential')
  await healthReports.write([report({ isSuspect: true })])
  t.match(await chatAt(acme, 'main'), { state: 'degraded', reason: 'outage' })
  await healthReports.write([])
  t.match(await chatAt(acme, 'main'), { state: 'ok', processes: 1 })
})

t.test(
  'a process stores its provider states after a change, else every 30 s; after 60 s they are ignored',
  async (t) => {
    const cluster = await TestCluster.start()
    t.teardown(() => cluster.stop())
    const clock = new TestClock()
    const url = await cluster.database()
    const [one, two] = [await cluster.store(t, url, { clock }), await cluster.store(t, url, { clock, serves: false })]
    const { id } = await organization(one, 'acme')
    const catalog = new Catalog([provider('a', [model('llm')])])
    const health = new Health(clock, healthLimits)
    const reports = createHealthReports({ catalog, health, store: one.healthReports, clock })
    const elsewhere = createHealthReports({
      catalog,
      health: new Health(clock, healthLimits),
      store: two.healthReports,
      clock,
    })
    const sql = cluster.sql(t, url)
    const written = async () =>
      (await sql`select written_at from provider_health`).map((row) => row['written_at'] as Date)
    const state = async () => (await elsewhere.list(id, {}))[0]
    await reports.publish()
    const [first] = await written()
    await clock.leap(10_000)
    await reports.publish()
    t.same(await written(), [first], 'nothing has changed')
    const row = catalog.find('llm', 'a', 'm')
    if (!row) throw new Error('no row')
    for (let failures = 0; failures < 3; failures++) health.begin(row, 'stream')?.failed(failure('server', true))
    await reports.publish()
    t.not((await written())[0]?.getTime(), first?.getTime())
    t.match(await state(), { state: 'open', reason: 'circuit_open', retryAfterMs: 5000, processes: 1 })
    await clock.leap(2_000)
    t.match(await state(), { retryAfterMs: 3000 })
    await clock.leap(58_001)
    t.match(await state(), { state: 'unknown', processes: 0 }, 'a process that writes nothing for 60 s has ended')
  },
)
