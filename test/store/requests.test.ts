/** Tests how the store handles a request's idempotency key, ledger row and credit. */
import t from 'tap'
import type { Settlement } from '../../domain/billing/ledger.ts'
import type { KeyUse } from '../../domain/idempotency/idempotency.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { createIdempotency } from '../../store/billing/idempotency.ts'
import { connect } from '../../store/postgres/connect.ts'
import type { Store } from '../../store/store.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'
import { keyUse } from './key-use.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'
import { killed, spawned } from './spawned.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

function settlement(use: KeyUse, costMicroUsd: number | null, reservedMicroUsd = 0): Settlement {
  const { organizationId, requestId, operation } = use
  const row = ledgerRow(organizationId, requestId, { operation, costMicroUsd })
  return { row, choice: choiceIn('en'), use, status: 'succeeded', reservedMicroUsd }
}

async function creditOf(store: Store, id: string): Promise<number | undefined> {
  return (await store.organizations.list()).find((found) => found.id === id)?.creditMicroUsd
}

t.test('of 200 simultaneous requests with one idempotency key, one is admitted', async (t) => {
  const url = await cluster.database()
  const stores = await Promise.all([cluster.store(t, url), cluster.store(t, url)])
  const copies = Array.from({ length: 200 }, () => keyUse('org_a', 'same'))
  const admissions = await Promise.all(copies.map((use, index) => (stores[index % 2] as Store).idempotency.admit(use)))
  const outcomes = admissions.map(({ outcome }) => outcome)
  t.equal(outcomes.filter((outcome) => outcome === 'admitted').length, 1)
  t.equal(outcomes.filter((outcome) => outcome === 'in_progress').length, 199)
  t.match(
    admissions.find(({ outcome }) => outcome === 'in_progress'),
    { retryAfterS: 1 },
  )
  const [row] = await cluster.sql(t, url)<{ count: number }[]>`select count(*) from idempotency_keys`
  t.equal(row?.count, 1)
})

t.test('an idempotency key changes its state at admission, dispatch and expiry', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const other = await cluster.store(t, url, { clock })
  const { idempotency } = store

  await t.test("after dispatch an idempotency key returns the first request's id until the key expires", async (t) => {
    const first = keyUse('org_a', 'life')
    t.same(await idempotency.admit(first), { outcome: 'admitted' })
    t.equal(await idempotency.dispatch(first), true)
    const started = { outcome: 'already_started', originalRequestId: first.requestId }
    t.same(await other.idempotency.admit(keyUse('org_a', 'life')), started)
    await settled(store, settlement(first, 0))
    t.same(await idempotency.admit(keyUse('org_a', 'life')), started)
    clock.setMs += 86_400_001
    t.same(await idempotency.admit(keyUse('org_a', 'life', 'something else')), { outcome: 'admitted' })
    await idempotency.admit(keyUse('org_a', 'at once'), 'dispatched')
    const rows = await cluster.sql(t, url)`select 1 from idempotency_keys where dispatched_at = admitted_at`
    t.equal(rows.length, 1, 'both steps in one have one time')
  })

  await t.test('other content under the same idempotency key is a conflict in each state of the key', async (t) => {
    const first = keyUse('org_a', 'conflict', 'one')
    const conflict = { outcome: 'conflict', originalRequestId: first.requestId }
    const [, concurrent] = await Promise.all([
      idempotency.admit(first),
      idempotency.admit(keyUse('org_a', 'conflict', 'two')),
    ])
    t.same(concurrent, conflict, 'while the first is being admitted')
    t.same(await idempotency.admit(keyUse('org_a', 'conflict', 'two')), conflict, 'admitted here')
    t.same(await other.idempotency.admit(keyUse('org_a', 'conflict', 'two')), conflict, 'admitted elsewhere')
    await idempotency.dispatch(first)
    t.same(await idempotency.admit(keyUse('org_a', 'conflict', 'two')), conflict, 'dispatched')
    await settled(store, settlement(first, 0))
    t.same(await idempotency.admit(keyUse('org_a', 'conflict', 'two')), conflict, 'ended')
  })

  await t.test(
    'if two requests reuse an idempotency key at once, only the request with changed content gets a conflict',
    async (t) => {
      const recorded = keyUse('org_a', 'third content', 'recorded')
      await other.idempotency.admit(recorded)
      const [wrong, right] = await Promise.all([
        idempotency.admit(keyUse('org_a', 'third content', 'wrong')),
        idempotency.admit(keyUse('org_a', 'third content', 'recorded')),
      ])
      t.same(wrong, { outcome: 'conflict', originalRequestId: recorded.requestId })
      t.same(right, { outcome: 'in_progress', retryAfterS: 1 })
    },
  )

  await t.test('a released idempotency key can be used again, whether it was dispatched or not', async (t) => {
    const first = keyUse('org_a', 'release')
    await idempotency.admit(first)
    await idempotency.release(first)
    const second = keyUse('org_a', 'release', 'changed')
    t.same(await idempotency.admit(second), { outcome: 'admitted' })
    t.equal(await idempotency.dispatch(second), true)
    await idempotency.release(second)
    const third = keyUse('org_a', 'release')
    t.same(await idempotency.admit(third), { outcome: 'admitted' })
    await idempotency.dispatch(third)
    await settled(store, settlement(third, 0))
    await idempotency.release(third)
    t.match(
      await idempotency.admit(keyUse('org_a', 'release')),
      { outcome: 'already_started' },
      'not when it has ended',
    )
  })

  await t.test(
    'only a request with the same content takes over an expired lease, and the first request then loses the lease',
    async (t) => {
      const first = keyUse('org_a', 'takeover')
      await idempotency.admit(first)
      clock.setMs += 10_001
      t.match(await other.idempotency.admit(keyUse('org_a', 'takeover', 'else')), { outcome: 'conflict' })
      const second = keyUse('org_a', 'takeover')
      t.same(await other.idempotency.admit(second), { outcome: 'admitted' })
      t.equal(await idempotency.dispatch(first), false, 'dispatch is fenced')
      await idempotency.release(first)
      t.equal(await other.idempotency.dispatch(second), true, 'and so was the release')
    },
  )

  await t.test('an idempotency key belongs to one organization and one operation', async (t) => {
    const use = keyUse('org_a', 'scope')
    t.match(await idempotency.admit(use), { outcome: 'admitted' })
    t.match(await idempotency.admit(keyUse('org_b', 'scope')), { outcome: 'admitted' })
    t.match(await idempotency.admit({ ...keyUse('org_a', 'scope'), operation: 'POST /v1/tts/speech' }), {
      outcome: 'admitted',
    })
  })

  await t.test('each idempotency key in a batch gets its answer, even if some keys are refused', async (t) => {
    const known = Array.from({ length: 40 }, (_, index) => keyUse('org_a', `batch ${index * 2}`))
    await Promise.all(known.map((use) => idempotency.admit(use)))
    await Promise.all(known.map((use) => idempotency.dispatch(use)))
    const all = Array.from({ length: 80 }, (_, index) => keyUse('org_a', `batch ${index}`))
    const admissions = await Promise.all(all.map((use) => idempotency.admit(use)))
    for (const [index, admission] of admissions.entries()) {
      const original = known[index / 2]?.requestId
      t.same(
        admission,
        original ? { outcome: 'already_started', originalRequestId: original } : { outcome: 'admitted' },
      )
    }
  })
})

t.test('a live request keeps its lease, and the lease of a killed process expires', async (t) => {
  const url = await cluster.database()
  const time = storeClock()
  const owner = await cluster.store(t, url, { clock: time })
  const use = keyUse('org_a', 'renewed')
  await owner.idempotency.admit(use)
  const other = await cluster.store(t, url, { clock: { ...systemClock, nowMs: () => time.nowMs() } })
  for (let seconds = 0; seconds < 25; seconds += 2.5) await time.leap(2_500)
  const renewed = await other.idempotency.admit(keyUse('org_a', 'renewed'))
  t.match(renewed, { outcome: 'in_progress' }, 'after two and a half leases')
  t.equal(await owner.idempotency.dispatch(use), true)

  const dead = keyUse('org_a', 'killed')
  const process = await spawned([cluster.folder, url, 'admit', JSON.stringify(dead)], 'ready')
  t.equal(process.lines[0], 'admitted')
  await killed(process)
  const clock = storeClock()
  const later = await cluster.store(t, url, { clock })
  t.match(await later.idempotency.admit(keyUse('org_a', 'killed')), { outcome: 'in_progress' })
  clock.setMs += 10_000
  t.match(await later.idempotency.admit(keyUse('org_a', 'killed')), { outcome: 'admitted' })
})

t.test('a settlement completes the idempotency key, writes the ledger row and debits credit', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const sql = cluster.sql(t, url)
  const { id } = await organization(store, 'payer', 1_000)
  const use = keyUse(id, 'paid')
  await store.idempotency.admit(use)
  t.equal(await store.credit.reserve(id, use.requestId, 300), null)
  t.equal(await creditOf(store, id), 700)
  await store.idempotency.dispatch(use)
  const paid = settlement(use, 120.2, 300)
  await settled(store, paid)

  t.match(await sql`select status, finished_at is not null as finished from idempotency_keys`, [
    { status: 'succeeded', finished: true },
  ])
  const rows = await sql`select *, extract(epoch from started_at)::float8 * 1000 as started_ms from requests`
  t.match(rows, [
    {
      organization_id: id,
      request_id: use.requestId,
      stage: 'llm',
      attempt_id: 'att_1',
      provider: 'mock',
      model: 'mock-1',
      started_ms: 1_790_000_000_123,
      duration_ms: 12.5,
      first_byte_ms: 3.25,
      quantities: [{ unit: 'output_tokens', amount: 7 }],
      cost_micro_usd: 121,
    },
  ])
  t.equal(await creditOf(store, id), 879, 'the reservation went back, the cost was taken, rounded up')
  t.same(await sql`select * from reservations`, [])

  await settled(store, paid)
  t.equal(await creditOf(store, id), 879, 'a settlement that is sent twice counts once')

  const unpriced = keyUse(id, 'unpriced')
  await settled(store, { ...settlement(unpriced, null), status: 'failed' })
  t.match(await sql`select cost_micro_usd from requests where request_id = ${unpriced.requestId}`, [
    { cost_micro_usd: null },
  ])
  t.equal(await creditOf(store, id), 879, 'an unknown price costs nothing')
})

t.test('many requests of several organizations are settled in one batch', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const organizations = await Promise.all(['a', 'b', 'c'].map((name) => organization(store, name, 100_000)))
  const uses = organizations.flatMap(({ id }) => Array.from({ length: 100 }, (_, index) => keyUse(id, `many ${index}`)))
  await Promise.all(
    uses.map(async (use) => {
      await store.idempotency.admit(use)
      await store.credit.reserve(use.organizationId, use.requestId, 50)
      await store.idempotency.dispatch(use)
      await settled(store, settlement(use, 20, 50))
    }),
  )
  for (const { creditMicroUsd } of await store.organizations.list()) t.equal(creditMicroUsd, 98_000)
  const sql = cluster.sql(t, url)
  t.match(await sql`select count(*) from requests`, [{ count: 300 }])
  t.match(await sql`select status, count(*) from idempotency_keys group by status`, [
    { status: 'succeeded', count: 300 },
  ])
})

t.test("a row that Postgres refuses is logged, and its batch's other rows are written", async (t) => {
  const url = await cluster.database()
  const logged: object[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void logged.push(fields) }
  const store = await cluster.store(t, url, { log })
  const { id } = await organization(store, 'mixed', 0)
  const wrong = settlement(keyUse(id, 'wrong'), 0)
  const without = { ...wrong, row: { ...wrong.row, operation: null as unknown as string } }
  const [first, last] = [settlement(keyUse(id, 'first'), 0), settlement(keyUse(id, 'last'), 0)]
  for (const each of [first, without, last]) store.ledger.settle(each)
  await store.ledger.drain()
  t.match(logged, [{ requestId: wrong.row.requestId, code: '23502' }])
  t.match(await cluster.sql(t, url)`select count(*) from requests`, [{ count: 2 }], 'the others are written')
})

t.test('credit is reserved, and unused credit is released', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)

  await t.test(
    '100 simultaneous reservations of two processes are granted while the credit lasts, never below zero',
    async (t) => {
      const other = await cluster.store(t, url)
      const { id } = await organization(store, 'poor', 1_050)
      const grants = await Promise.all(
        Array.from({ length: 100 }, (_, index) => (index % 2 ? store : other).credit.reserve(id, `req_c${index}`, 100)),
      )
      t.equal(grants.filter((refusal) => refusal === null).length, 10)
      t.equal(await creditOf(store, id), 50)
    },
  )

  await t.test('a large reservation that is refused does not block a later small one', async (t) => {
    const { id } = await organization(store, 'mixed', 100)
    const asks = [60, 500, 30, 20, 10].map((amount, index) => store.credit.reserve(id, `req_m${index}`, amount))
    t.same(await Promise.all(asks), [null, 'credit', null, 'credit', null])
    t.equal(await creditOf(store, id), 0)
  })

  await t.test('a reservation of 0 is not stored, and an unknown organization is refused', async (t) => {
    t.equal(await store.credit.reserve('org_unknown', 'req_0', 0), null)
    t.equal(await store.credit.reserve('org_unknown', 'req_0', 1), 'credit')
  })

  await t.test('a request may reserve more than once, and all unused credit is released', async (t) => {
    const { id } = await organization(store, 'long', 100)
    const asks = [10, 20, 30].map((amount) => store.credit.reserve(id, 'req_long', amount))
    t.same(await Promise.all(asks), [null, null, null])
    t.equal(await store.credit.reserve(id, 'req_long', 40), null)
    t.equal(await creditOf(store, id), 0)
    await store.credit.cancel(id, 'req_long', 100)
    t.equal(await creditOf(store, id), 100)
  })

  await t.test('the credit reserved for a cancelled request is released once', async (t) => {
    const { id } = await organization(store, 'cancelled', 100)
    await store.credit.reserve(id, 'req_x', 80)
    await store.credit.cancel(id, 'req_x', 80)
    await store.credit.cancel(id, 'req_x', 80)
    t.equal(await creditOf(store, id), 100)
  })

  await t.test("a killed process's reservation is released when the process's heartbeat has expired", async (t) => {
    const { id } = await organization(store, 'crashed', 100)
    const ask = JSON.stringify({ organizationId: id, requestId: 'req_dead', microUsd: 70 })
    const process = await spawned([cluster.folder, url, 'reserve', ask], 'ready')
    t.equal(process.lines[0], 'true')
    await killed(process)
    await cluster.store(t, url)
    t.equal(await creditOf(store, id), 30, 'it may still be alive')
    const clock = storeClock()
    clock.setMs += 10_001
    await cluster.store(t, url, { clock })
    t.equal(await creditOf(store, id), 100)
  })
})

t.test('expired idempotency keys are removed', async (t) => {
  const url = await cluster.database()
  const sql = cluster.sql(t, url)
  await sql`
    insert into idempotency_keys
      (organization_id, operation, key_digest, content_hash, request_id, status, admitted_at, lease_until, expires_at)
    select 'org_a', 'op', decode(md5(n::text), 'hex'), '\\x00', 'req_' || n, 'succeeded', now(), now(),
      now() + case when n <= 2500 then interval '-1 s' else interval '1 h' end
    from generate_series(1, 2600) n`
  const pools = connect({ databaseUrl: url }, 'reaper', 1)
  const limits = { leaseMs: 10_000, retentionMs: 86_400_000 }
  await createIdempotency(pools.system, storeClock(), limits).reap()
  t.match(await sql`select count(*) from idempotency_keys`, [{ count: 100 }])
  await Promise.all([pools.system.end(), pools.tenant.end()])
})

t.test('the batch statements use the index of idempotency keys and do not scan the table', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const sql = cluster.sql(t, url)
  await sql`
    insert into idempotency_keys
      (organization_id, operation, key_digest, content_hash, request_id, status, admitted_at, lease_until, expires_at)
    select 'org_a', 'POST /v1/llm/responses', sha256(n::text::bytea), '\\x00', 'req_p' || n, 'succeeded', now(), now(), now() + interval '1 h'
    from generate_series(1, 20000) n`
  await sql`analyze idempotency_keys`
  await sql`select pg_stat_reset()`
  for (let round = 0; round < 8; round += 1) {
    const uses = Array.from({ length: 20 }, (_, index) => keyUse('org_a', `plan ${round} ${index}`))
    await Promise.all(uses.map((use) => store.idempotency.admit(use)))
    await Promise.all(uses.map((use) => store.idempotency.dispatch(use)))
    await Promise.all(uses.map((use) => settled(store, settlement(use, 0))))
  }
  await store.close({ stopPostgres: false }) // Postgres updates its counters when a connection ends.
  const [table] = await sql<{ seq_tup_read: number; idx_tup_fetch: number }[]>`
    select seq_tup_read, idx_tup_fetch from pg_stat_user_tables where relname = 'idempotency_keys'`
  t.equal(table?.seq_tup_read, 0)
  t.ok((table?.idx_tup_fetch ?? 0) < 2_000, `rows fetched: ${table?.idx_tup_fetch}`)
})
