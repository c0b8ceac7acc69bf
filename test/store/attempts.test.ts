/** The database rows for attempts, the routing choices behind requests, and isolation between organizations. */
import t from 'tap'
import type { Store } from '../../store/store.ts'
import { until } from '../process/machine.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'
import { choiceIn, ledgerAttempt, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const settle = (store: Store, organizationId: string, requestId: string, language = 'en', over = {}) =>
  settled(store, {
    row: ledgerRow(organizationId, requestId, over),
    choice: choiceIn(language),
    status: 'succeeded',
    reservedMicroUsd: 0,
  })

t.test('each attempt has a row, also a failed attempt', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id } = await organization(store, 'acme', 1_000)
  const attempts = [
    ledgerAttempt('att_a', { outcome: 'rate_limited', firstByteMs: null, quantities: [], keySource: 'byok' }),
    ledgerAttempt('att_b', { startedAtMs: 1_790_000_000_223, costMicroUsd: null, priceSource: null }),
    ledgerAttempt('att_c', { startedAtMs: 1_790_000_000_323, costMicroUsd: 120.2 }),
  ]
  const paid = { attempts, attemptId: 'att_c', costMicroUsd: 120.2 }
  await settle(store, id, 'req_1', 'en', paid)
  await settle(store, id, 'req_1', 'en', paid)
  const sql = cluster.sql(t, url)
  t.match(await sql`select * from attempts order by number`, [
    {
      attempt_id: 'att_a',
      request_id: 'req_1',
      outcome: 'rate_limited',
      first_byte_ms: null,
      cost_micro_usd: 0,
      priced: true,
      key_source: 'byok',
    },
    { attempt_id: 'att_b', cost_micro_usd: null, priced: false, price_source: null, key_source: 'platform' },
    { attempt_id: 'att_c', cost_micro_usd: 121, priced: true, price_source: 'a price list, 2026-10-01' },
  ])
  t.match(await store.organizations.list(), [{ creditMicroUsd: 1_000 - 121 }], 'once, and by the request')

  t.match(await store.requestRoutes.find({ organizationId: id, test: false }, 'req_1'), {
    requestId: 'req_1',
    outcome: 'succeeded',
    startedAtMs: 1_790_000_000_123,
    costMicroUsd: 121,
    choice: { stage: 'llm', language: 'en', candidate: null },
    attempts: [
      { ...attempts[0], costMicroUsd: 0 },
      { attemptId: 'att_b', costMicroUsd: null },
      { ...attempts[2], costMicroUsd: 121 },
    ],
  })
  await settle(store, id, 'req_2', 'en', { attempts: [], attemptId: null })
  t.match(
    await store.requestRoutes.find({ organizationId: id, test: false }, 'req_2'),
    { attempts: [] },
    'nobody could be asked',
  )
})

t.test('if requests have equal routing choices, the choice is stored once', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const keptMs = 86_400_000
  const store = await cluster.store(t, url, { clock, choiceRetentionMs: keptMs })
  const other = await cluster.store(t, url, { choiceRetentionMs: keptMs })
  const [a, b] = await Promise.all([organization(store, 'a'), organization(store, 'b')])
  const sql = cluster.sql(t, url)
  const languages = ['en', 'de', 'fr']
  const each = (run: (store: Store, organizationId: string, index: number) => Promise<void>) =>
    Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        [store, other].flatMap((from) => [a, b].map(({ id }) => run(from, id, index))),
      ).flat(),
    )
  await each((from, id, index) => settle(from, id, `req_${index}_${from === store ? 1 : 2}`, languages[index % 3]))
  t.match(await sql`select organization_id, count(*) from choices group by organization_id`, [
    { count: 3 },
    { count: 3 },
  ])
  t.equal(choiceIn('en').record.id, choiceIn('en').record.id)
  t.equal((await store.requestRoutes.find({ organizationId: a.id, test: false }, 'req_4_2'))?.choice.language, 'de')

  await t.test("an organization cannot read the route of another organization's request", async (t) => {
    await settle(store, a.id, 'req_own')
    t.ok(await store.requestRoutes.find({ organizationId: a.id, test: false }, 'req_own'))
    t.equal(await store.requestRoutes.find({ organizationId: b.id, test: false }, 'req_own'), null)
    t.equal(await store.requestRoutes.find({ organizationId: b.id, test: false }, 'req_unknown'), null)
  })

  await t.test('an expired routing choice is deleted unless a request still refers to the choice', async (t) => {
    const settled = async (requestId: string) => {
      const done = settle(store, a.id, requestId)
      // Real timers gather the settlements. Only retries would wait for the test clock.
      await done
    }
    for (let half = 0; half < 3; half += 1) {
      await clock.leap(keptMs / 2)
      await settled(`req_later_${half}`)
    }
    await clock.leap(60_000)
    await until('the others are deleted', async () => (await sql`select 1 from choices`).length === 1)
    t.match(await sql`select organization_id, id from choices`, [
      { organization_id: a.id, id: choiceIn('en').record.id },
    ])
    t.ok(await store.requestRoutes.find({ organizationId: a.id, test: false }, 'req_own'))
    t.equal(await store.requestRoutes.find({ organizationId: b.id, test: false }, 'req_4_2'), null)
  })
})
