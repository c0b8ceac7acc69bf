/** Several repositories in one transaction: everything is committed or nothing, and only for one organization. */
import t from 'tap'
import type { Repositories } from '../../store/organization-records.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const newKey = (organizationId: string) => ({
  organizationId,
  name: '',
  scopes: ['router' as const],
  test: false,
  policy: {},
  expiresAtMs: null,
})

t.test('a transaction of the store commits everything or nothing, for one organization', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const sql = cluster.sql(t, url)
  const [a, b] = await Promise.all([organization(store, 'a', 100), organization(store, 'b', 100)])
  const creditOf = async (id: string) => (await store.organizations.list()).find((row) => row.id === id)?.creditMicroUsd

  await t.test('a transaction commits the rows of several repositories together', async (t) => {
    const made = await store.transaction(a.id, async ({ keys, organizations, providerKeys }) => {
      const key = await keys.create(newKey(a.id))
      await organizations.addCredit(a.id, 5)
      await providerKeys.put(a.id, 'mock', 'secret')
      t.equal((await keys.list(a.id)).length, 1, 'it sees its writes')
      t.same(await store.keys.list(a.id), [], 'nothing of it is seen elsewhere before the commit')
      t.same(await store.providerKeys.list(a.id), {})
      t.equal(await creditOf(a.id), 100)
      return key
    })
    t.match(await store.keys.verify(made?.secret ?? ''), { keyId: made?.key.id, organization: { id: a.id } })
    t.equal(await creditOf(a.id), 105)
    const { mock = '' } = await store.providerKeys.list(a.id)
    t.equal(await store.providerKeys.open(a.id, 'mock', mock), 'secret')
  })

  await t.test('a transaction rolls back everything if the work throws', async (t) => {
    const before = await store.providerKeys.list(a.id)
    const work = store.transaction(a.id, async ({ keys, organizations, providerKeys }) => {
      await keys.create(newKey(a.id))
      await organizations.addCredit(a.id, 5)
      await providerKeys.put(a.id, 'mock', 'another')
      throw new Error('changed its mind')
    })
    await t.rejects(work, /changed its mind/)
    t.equal((await store.keys.list(a.id)).length, 1)
    t.equal(await creditOf(a.id), 105)
    t.same(await store.providerKeys.list(a.id), before)
    t.equal(await store.providerKeys.open(a.id, 'mock', before['mock'] ?? ''), 'secret')
  })

  await t.test('a transaction rolls back everything if a statement fails, even if the work goes on', async (t) => {
    const work = store.transaction(a.id, async ({ keys, organizations }) => {
      await keys.create(newKey(a.id))
      await organizations.addCredit(a.id, Number.MAX_SAFE_INTEGER * 1_000_000).catch(() => {})
    })
    await t.rejects(work)
    t.equal((await store.keys.list(a.id)).length, 1)
  })

  await t.test('a transaction refuses to read or change the rows of another organization', async (t) => {
    let kept: Repositories | undefined
    await store.transaction(a.id, (repositories) => {
      kept = repositories
      const { keys, organizations, providerKeys } = repositories
      t.throws(() => keys.create(newKey(b.id)), /not the organization of this transaction/)
      t.throws(() => organizations.addCredit(b.id, 1), /not the organization/)
      t.throws(() => providerKeys.list(b.id), /not the organization/)
      return Promise.resolve()
    })
    t.throws(() => kept?.keys.list(a.id), /has ended/, 'and ends with its work')
    t.same(await store.keys.list(b.id), [])
    t.equal(await creditOf(b.id), 100)
    const everybody = store.transaction('*', () => Promise.resolve())
    await t.rejects(everybody, /not an organization id/)
  })

  await t.test('bootstrap creates the organization and its API key in one transaction', async (t) => {
    const emptyUrl = await cluster.database()
    const empty = await cluster.store(t, emptyUrl)
    const emptySql = cluster.sql(t, emptyUrl)
    await emptySql`alter table api_keys add constraint refuse check (false)`
    const key = 'sk_live_an_operator_brought_this_one'
    await t.rejects(empty.organizations.bootstrap({ key }))
    t.same(await empty.organizations.list(), [], 'no organization without its key')
    await emptySql`alter table api_keys drop constraint refuse`
    t.equal(await empty.organizations.bootstrap({ key }), 'created')
    t.equal((await empty.organizations.list()).length, 1)
  })

  t.same(
    [...(await sql`select organization_id from provider_keys`)],
    [{ organization_id: a.id }],
    'nothing of the other organization was written',
  )
})
