/** Tests organizations and their keys. Organizations do not see each other. */
import t from 'tap'
import type { Caller } from '../../domain/records/organization.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { readSecret } from '../../store/access/key-secret.ts'
import { connect } from '../../store/postgres/connect.ts'
import { transactionEach } from '../../store/postgres/tenant.ts'
import type { Store } from '../../store/store.ts'
import { until } from '../process/machine.ts'
import { storeClock } from '../time/store-clock.ts'
import { changeRow, organization, TestCluster } from './cluster.ts'
import { choiceIn, ledgerRow, settled } from './settlement.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const brought = 'sk_live_an_operator_brought_this_one'

async function keyOf(store: Store, organizationId: string, changes: { test?: boolean; expiresAtMs?: number } = {}) {
  const made = await store.keys.create({
    organizationId,
    name: 'test',
    scopes: ['router', 'realtime'],
    test: changes.test ?? false,
    policy: { language: 'es-MX', maxConcurrency: 2 },
    expiresAtMs: changes.expiresAtMs ?? null,
  })
  if (!made) throw new Error('no key')
  return made
}

/** Repeats the check until it succeeds, because a notification between processes takes a moment. */
async function untilVerified(
  store: Store,
  secret: string,
  expected: (caller: Caller | null) => boolean,
): Promise<Caller | null> {
  let caller: Caller | null = null
  await until('the change has arrived', async () => {
    caller = await store.keys.verify(secret)
    return expected(caller)
  })
  return caller
}

/**
 * Repeats the check until the answer is cached. An answer read during a change is not cached, and the key's creation
 * notice may still be on its way.
 */
async function untilRemembered(store: Store, secret: string): Promise<Caller | null> {
  let remembered: Caller | null = null
  await until('the answer is remembered', async () => {
    const answer = store.keys.verify(secret)
    remembered = await answer
    return !(answer instanceof Promise)
  })
  return remembered
}

t.test('bootstrap creates one organization per API key, even if two processes run it at once', async (t) => {
  const url = await cluster.database()
  const stores = await Promise.all([cluster.store(t, url), cluster.store(t, url)])
  const [store] = stores
  t.equal(await store.keys.verify(brought), null)

  const outcomes = await Promise.all(stores.map(({ organizations }) => organizations.bootstrap({ key: brought })))
  t.same(outcomes.sort(), ['created', 'known'], 'two processes at once make one organization')
  const caller = await untilVerified(store, brought, (found) => found !== null)
  t.match(caller, { organization: { name: 'local', maxConcurrency: null }, test: false, policy: {} })
  t.same(caller?.scopes, ['router', 'realtime', 'platform', 'rmsg', 'admin'])
  const [local, ...others] = await store.organizations.list()
  t.match(local, { name: 'local', smsEnabled: true, rmsgEnabled: true, recordingEnabled: true })
  t.ok((local?.creditMicroUsd ?? 0) >= 1_000_000_000)
  t.same(others, [])
  t.equal(await store.organizations.bootstrap({ key: 'sk_test_another_key_of_24_characters' }), 'refused')
  await t.rejects(store.organizations.bootstrap({ key: 'sk_live_short' }), /at least 24 characters/)
  const [listed] = await store.keys.list(local?.id ?? '')
  t.equal(listed?.publicId, 'sk_live_', 'nothing of a key that was brought is shown')
})

t.test('API keys are verified, expire, and can be revoked and rotated', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const other = await cluster.store(t, url, { clock })
  const { id } = await organization(store, 'acme')

  await t.test('an API key is shown once, stored as a digest, and verified', async (t) => {
    const { key, secret } = await keyOf(store, id)
    t.match(secret, /^sk_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/)
    t.equal(key.publicId, secret.slice(0, 16))
    t.match(await store.keys.verify(secret), {
      organization: { id, name: 'acme', maxConcurrency: null },
      keyId: key.id,
      scopes: ['router', 'realtime'],
      test: false,
      policy: { language: 'es-MX', maxConcurrency: 2 },
    })
    const dump = JSON.stringify(await cluster.sql(t, url)`select * from api_keys`)
    t.notOk(dump.includes(secret.slice(17)), 'not in the database')
    t.notOk(JSON.stringify(await store.keys.list(id)).includes(secret.slice(17)), 'not in the list')
  })

  await t.test('a verified API key is answered from memory for 30 seconds', async (t) => {
    const { secret } = await keyOf(store, id)
    t.type(store.keys.verify(secret), Promise, 'read for the first time')
    const caller = await untilRemembered(store, secret)
    t.ok(caller)
    t.equal(store.keys.verify(secret), caller)
    clock.setMs += 30_001
    t.type(store.keys.verify(secret), Promise, 'read again after a while')
  })

  await t.test('a test key has the prefix sk_test_ and is verified as a test key', async (t) => {
    const { secret } = await keyOf(store, id, { test: true })
    t.match(secret, /^sk_test_/)
    t.match(await store.keys.verify(secret), { test: true })
  })

  await t.test('a malformed API key is refused without a database query, and an unknown key after one', async (t) => {
    const { secret } = await keyOf(store, id)
    for (const wrong of [
      '',
      'sk_live_',
      'Bearer x',
      'sk_prod_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      `${secret} `,
      `sk_live_${'x'.repeat(300)}`,
    ]) {
      t.equal(store.keys.verify(wrong), null)
    }
    const stranger = `${secret.slice(0, -1)}${secret.endsWith('x') ? 'y' : 'x'}`
    t.equal(await store.keys.verify(stranger), null)
    t.equal(await untilRemembered(store, stranger), null, 'remembered for a moment')
  })

  await t.test('an expired API key is refused', async (t) => {
    const { secret } = await keyOf(store, id, { expiresAtMs: clock.nowMs() + 5_000 })
    t.ok(await store.keys.verify(secret))
    clock.setMs += 5_001
    t.equal(await store.keys.verify(secret), null)
  })

  await t.test('a revoked API key is refused in every process', async (t) => {
    const { key, secret } = await keyOf(store, id)
    t.ok(await store.keys.verify(secret))
    t.ok(await other.keys.verify(secret))
    t.equal(await other.keys.revoke(id, key.id), true)
    t.equal(await other.keys.revoke(id, key.id), false)
    for (const each of [store, other]) t.equal(await untilVerified(each, secret, (caller) => caller === null), null)
    t.ok((await store.keys.list(id)).find((listed) => listed.id === key.id)?.revokedAt)
    t.equal(await store.keys.rotate(id, key.id, 0), null)
  })

  await t.test('a rotated API key keeps its id, and its old secret stops working', async (t) => {
    const { key, secret } = await keyOf(store, id)
    t.ok(await other.keys.verify(secret))
    const rotated = await store.keys.rotate(id, key.id, 0)
    t.equal(rotated?.key.id, key.id)
    t.match(await other.keys.verify(rotated?.secret ?? ''), { keyId: key.id })
    await untilVerified(other, secret, (caller) => caller === null)
  })

  await t.test('if an API key is rotated with an overlap, its old secret works until the overlap ends', async (t) => {
    const { key, secret: first } = await keyOf(store, id)
    t.ok(await other.keys.verify(first))
    const second = (await store.keys.rotate(id, key.id, 60_000))?.secret ?? ''
    t.match(await untilVerified(other, second, (caller) => caller !== null), { keyId: key.id })
    t.match(await other.keys.verify(first), { keyId: key.id, scopes: ['router', 'realtime'] })
    clock.setMs += 40_000
    t.ok(await store.keys.verify(first))
    clock.setMs += 20_001
    for (const each of [store, other]) t.equal(await each.keys.verify(first), null)
    t.ok(await store.keys.verify(second))

    const third = (await store.keys.rotate(id, key.id, 60_000))?.secret ?? ''
    const fourth = (await store.keys.rotate(id, key.id, 60_000))?.secret ?? ''
    await untilVerified(other, second, (caller) => caller === null)
    for (const secret of [third, fourth]) t.ok(await other.keys.verify(secret), 'one old secret at most')
    await store.keys.revoke(id, key.id)
    for (const secret of [third, fourth]) await untilVerified(other, secret, (caller) => caller === null)
  })

  await t.test('the old secret of a rotated API key stops working at the latest when the key expires', async (t) => {
    const { key, secret } = await keyOf(store, id, { expiresAtMs: clock.nowMs() + 5_000 })
    const rotated = (await store.keys.rotate(id, key.id, 60_000))?.secret ?? ''
    t.ok(await store.keys.verify(secret))
    clock.setMs += 5_001
    for (const each of [secret, rotated]) t.equal(await store.keys.verify(each), null)
  })

  await t.test("an API key's new policy and an organization's new limits take effect in every process", async (t) => {
    const { key, secret } = await keyOf(store, id)
    t.ok(await other.keys.verify(secret))
    const sql = cluster.sql(t, url)
    const policy = sql.json({ objective: 'latency' })
    const { lookup } = readSecret(secret) ?? { lookup: '' }
    await changeRow(sql, (tx) => tx`update api_keys set policy = ${policy} where id = ${key.id}`, { lookup })
    const caller = await untilVerified(other, secret, (found) => found?.policy.objective === 'latency')
    t.same(caller?.policy, { objective: 'latency' })
    await changeRow(sql, (tx) => tx`update organizations set max_concurrency = 7 where id = ${id}`, { all: true })
    await untilVerified(other, secret, (found) => found?.organization.maxConcurrency === 7)
  })

  await t.test('an API key that was refused before its creation works after its creation', async () => {
    const empty = await cluster.store(t, await cluster.database())
    t.equal(await empty.keys.verify(brought), null)
    await empty.organizations.bootstrap({ key: brought })
    await untilVerified(empty, brought, (caller) => caller !== null)
  })

  await t.test('an API key shows when it was last used', async (t) => {
    const short = await cluster.store(t, url)
    const { key, secret } = await keyOf(short, id)
    await short.keys.verify(secret)
    await short.close({ stopPostgres: false })
    t.ok((await store.keys.list(id)).find((listed) => listed.id === key.id)?.lastUsedAt)
  })
})

t.test('after a lost LISTEN connection the store reads cached API keys again', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const { id } = await organization(store, 'gap')
  const { key, secret } = await keyOf(store, id)
  t.ok(await store.keys.verify(secret))
  const sql = cluster.sql(t, url)
  await sql`update api_keys set revoked_at = now() where id = ${key.id}` // No process is notified.
  t.ok(store.keys.verify(secret), 'remembered')
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'`
  await untilVerified(store, secret, (caller) => caller === null)
})

t.test("values beyond the limits for an organization's name, credit and settings are refused", async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id } = await organization(store, 'first', 10)
  t.match(await store.organizations.addCredit(id, -30), { creditMicroUsd: -20 })
  t.match(await store.organizations.addCredit(id, 5_000_000_000_020), { creditMicroUsd: 5_000_000_000_000 })
  t.match(await store.organizations.list(), [
    { id, name: 'first', creditMicroUsd: 5_000_000_000_000, smsEnabled: false, rmsgEnabled: false },
  ])
  t.equal(await store.organizations.addCredit('org_unknown', 1), null)
  t.equal(
    await store.keys.create({
      organizationId: 'org_unknown',
      name: '',
      scopes: [],
      test: false,
      policy: {},
      expiresAtMs: null,
    }),
    null,
  )
})

t.test('an organization cannot see the data of another organization', async (t) => {
  const url = await cluster.database()
  // Two instances are opened, because a single instance would count its leases in memory and write no row.
  const [store] = await Promise.all([cluster.store(t, url), cluster.store(t, url)])
  const [a, b] = await Promise.all([organization(store, 'a', 100), organization(store, 'b', 100)])
  const { key, secret } = await keyOf(store, a.id)

  await t.test("another organization's API key is treated like an API key that does not exist", async (t) => {
    t.equal(await store.keys.revoke(b.id, key.id), false)
    t.equal(await store.keys.rotate(b.id, key.id, 0), null)
    t.same(await store.keys.list(b.id), [])
    t.ok(await store.keys.verify(secret))
  })

  await t.test('a query without a filter on the organization returns only rows of one organization', async (t) => {
    const use = { operation: 'op', keyDigest: '00'.repeat(32), contentHash: '00'.repeat(32) }
    for (const { id } of [a, b]) {
      await store.idempotency.admit({ ...use, organizationId: id, requestId: `req_${id}` })
      await store.credit.reserve(id, `req_${id}`, 1)
      await store.limits.acquire(id, `key_${id}`, { organizationMax: null, keyMax: null }, 'request')
      await store.providerKeys.put(id, 'mock', 'a-key')
      const row = ledgerRow(id, `r_${id}`)
      await settled(store, { row, choice: choiceIn('en'), status: 'failed', reservedMicroUsd: 0 })
    }
    await keyOf(store, b.id)
    const pools = connect({ databaseUrl: url }, 'isolation', 1)
    const each = transactionEach(pools.tenant)
    const tables = [
      'organizations',
      'api_keys',
      'idempotency_keys',
      'requests',
      'attempts',
      'choices',
      'reservations',
      'credit_movements',
      'concurrency_leases',
      'provider_keys',
    ]
    for (const table of tables) {
      const organizationOf = table === 'organizations' ? 'id' : 'organization_id'
      const query = `select distinct ${organizationOf} as organization from ${table}`
      t.same(
        await each.asOrganization(a.id, (tx) => tx.unsafe(query).then((rows) => [...rows])),
        [{ organization: a.id }],
        table,
      )
      t.equal((await each.asOperator((tx) => tx.unsafe(query))).length, 2)
      t.same([...(await pools.tenant.unsafe(query))], [], `${table}: nothing without an organization`)
    }
    await t.rejects(
      each.asOrganization(a.id, (tx) => tx`update api_keys set organization_id = ${b.id}`),
      /row-level security/,
      'nor can a row be moved to another',
    )
    for (const table of ['idempotency_keys', 'requests', 'attempts']) {
      const move = `update ${table} set organization_id = '${b.id}'`
      const refused = each.asOrganization(a.id, (tx) => tx.unsafe(move))
      await t.rejects(refused, /row-level security/, `${table}: nor here, where the policy has a separate check`)
    }
    for (const table of ['idempotency_keys', 'requests']) {
      const moved = `jsonb_populate_record(r, jsonb_build_object('organization_id', '${b.id}'))`
      const copy = `insert into ${table} select (${moved}).* from ${table} r`
      const refused = each.asOrganization(a.id, (tx) => tx.unsafe(copy))
      await t.rejects(refused, /row-level security/, `${table}: nor can one be inserted for another`)
    }
    t.throws(() => each.asOrganization('*', () => Promise.resolve()), /not an organization id/)
    await Promise.all([pools.system.end(), pools.tenant.end()])
  })

  await t.test('every table with an organization_id column has row level security', async (t) => {
    const open = await cluster.sql(t, url)`
      select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and a.attname = 'organization_id' and not (c.relrowsecurity and c.relforcerowsecurity)`
    t.same(open, [])
  })
})

t.test('while the database is unreachable the store throws store_unreachable', async (t) => {
  const clock = { ...systemClock }
  const store = await cluster.store(t, await cluster.database(), { clock })
  await store.close({ stopPostgres: false })
  await t.rejects(Promise.resolve(store.keys.verify(brought)), {
    name: 'Fault',
    kind: 'store_unreachable',
    detail: { retryAfterS: 1 },
  })
})
