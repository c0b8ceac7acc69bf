/**
 * Organizations' provider keys in the store: sealed, bound to their row, sealed again with a new master key, and
 * deleted.
 */
import t from 'tap'
import { SealError } from '../../domain/access/seal-error.ts'
import { createSealer } from '../../store/sealing/sealed.ts'
import type { Store } from '../../store/store.ts'
import { until } from '../process/machine.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const masterKey = (letter: string) => letter.repeat(40)
const with_ = (current: string, ...previous: string[]) => ({
  masterKeys: () => ({ current: masterKey(current), previous: previous.map(masterKey) }),
})
const secret = 'k4n4ry-of-the-vendor'

async function open(store: Store, organizationId: string, provider: string): Promise<string | null> {
  const { [provider]: keyId } = await store.providerKeys.list(organizationId)
  return keyId === undefined ? null : store.providerKeys.open(organizationId, provider, keyId)
}

t.test('a sealed value can be opened only for the row for which it was sealed', (t) => {
  const sealer = createSealer({ current: masterKey('a'), previous: [] })
  const place = ['provider key', 'org_a', 'mock', 'pkey_1']
  const sealed = sealer.seal(secret, place)
  t.equal(sealer.open(sealed, place), secret)
  t.notMatch(sealed.bytes.toString('latin1'), secret)
  t.not(sealer.seal(secret, place).bytes.toString('hex'), sealed.bytes.toString('hex'), 'no two are alike')

  for (const [index, other] of ['secret', 'org_b', 'other', 'pkey_2'].entries()) {
    const elsewhere = place.map((part, at) => (at === index ? other : part))
    t.throws(() => sealer.open(sealed, elsewhere), SealError, `does not open as ${other}`)
    t.throws(() => sealer.reseal(sealed, elsewhere), SealError)
  }
  t.throws(() => sealer.open(sealed, ['provider key', 'org_', 'amock', 'pkey_1']), SealError)
  for (let at = 0; at < sealed.bytes.length; at += 1) {
    const bytes = Buffer.from(sealed.bytes)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    t.throws(() => sealer.open({ ...sealed, bytes }, place), SealError, `byte ${at} was changed`)
  }
  t.throws(() => sealer.open({ ...sealed, bytes: sealed.bytes.subarray(0, 20) }, place), SealError)

  const moved = createSealer({ current: masterKey('b'), previous: [masterKey('a')] })
  t.equal(moved.open(sealed, place), secret)
  const resealed = moved.reseal(sealed, place)
  t.equal(createSealer({ current: masterKey('b'), previous: [] }).open(resealed, place), secret)
  t.throws(() => sealer.open(resealed, place), { message: /PARLEY_PREVIOUS_MASTER_KEYS/ })
  t.end()
})

t.test('a provider key is stored sealed, and only its organization can open it', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const [a, b] = await Promise.all([organization(store, 'a'), organization(store, 'b')])
  await store.providerKeys.put(a.id, 'mock', secret)
  t.equal(await open(store, a.id, 'mock'), secret)
  t.equal(await open(store, b.id, 'mock'), null)
  const { mock = '' } = await store.providerKeys.list(a.id)
  t.equal(await store.providerKeys.open(b.id, 'mock', mock), null, 'nor by an id that is known')
  const sql = cluster.sql(t, url)
  const [{ dump } = { dump: '' }] = await sql<{ dump: string }[]>`
    select (p::text || convert_from(sealed, 'SQL_ASCII')) as dump from provider_keys p`.catch(
    () => sql<{ dump: string }[]>`select p::text as dump from provider_keys p`,
  )
  t.notMatch(dump, secret)
  t.notMatch(dump, Buffer.from(secret).toString('hex'))

  await t.test('a sealed row that is copied to another organization cannot be opened', async (t) => {
    await sql`insert into provider_keys select ${b.id}, provider, id, sealed, sealed_by, created_at from provider_keys`
    const fresh = await cluster.store(t, url)
    await t.rejects(open(fresh, b.id, 'mock'), { message: /belongs elsewhere/ })
    t.equal(await store.providerKeys.remove(b.id, 'mock'), true)
  })

  await t.test('a replaced provider key gets a new id, and a deleted key is gone', async (t) => {
    await store.providerKeys.put(a.id, 'mock', 'another')
    t.equal(await open(store, a.id, 'mock'), 'another')
    t.equal(await store.providerKeys.open(a.id, 'mock', mock), null, 'the old id opens nothing')
    t.equal(await store.providerKeys.remove(b.id, 'mock'), false, 'another organization has none to delete')
    t.equal(await store.providerKeys.remove(a.id, 'mock'), true)
    t.equal(await store.providerKeys.remove(a.id, 'mock'), false)
    t.equal(await open(store, a.id, 'mock'), null)
  })
})

t.test("verifying an API key returns its organization's provider key ids in every process", async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const other = await cluster.store(t, url)
  const [a, b] = await Promise.all([organization(store, 'a'), organization(store, 'b')])
  const keyOf = async (organizationId: string) => {
    const wanted = { organizationId, name: '', scopes: ['router' as const], test: false, policy: {}, expiresAtMs: null }
    const made = await store.keys.create(wanted)
    return made?.secret ?? ''
  }
  const [ofA, ofB] = await Promise.all([keyOf(a.id), keyOf(b.id)])
  const providersOf = async (from: Store, key: string) =>
    Object.keys((await from.keys.verify(key))?.organization.ownKeys ?? { nobody: '' })
  const untilKnown = (from: Store, key: string, wanted: string[]) =>
    until(`providers: ${wanted.join()}`, async () => (await providersOf(from, key)).join() === wanted.join())
  for (const from of [store, other]) for (const key of [ofA, ofB]) t.same(await providersOf(from, key), [])
  await store.providerKeys.put(a.id, 'mock', secret)
  t.same(await providersOf(store, ofA), ['mock'], 'at once where it was put')
  await untilKnown(other, ofA, ['mock'])
  t.same(await providersOf(other, ofB), [])
  const { keyId = '' } = (await store.keys.verify(ofA)) ?? {}
  t.match(await store.keys.find(a.id, keyId), { organization: { ownKeys: { mock: /^pkey_/ } } })
  await store.providerKeys.remove(a.id, 'mock')
  t.same(await providersOf(store, ofA), [])
  await untilKnown(other, ofA, [])
})

t.test('a decrypted provider key is cached for a limited time', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock, keyCacheMs: 10_000 })
  const { id } = await organization(store, 'a')
  await store.providerKeys.put(id, 'mock', secret)
  const { mock = '' } = await store.providerKeys.list(id)
  const opening = store.providerKeys.open(id, 'mock', mock)
  t.type(opening, Promise)
  await opening
  t.equal(store.providerKeys.open(id, 'mock', mock), secret, 'at once, without a query')
  clock.setMs += 10_001
  t.type(store.providerKeys.open(id, 'mock', mock), Promise)
  const many = await Promise.all(Array.from({ length: 50 }, async () => store.providerKeys.open(id, 'mock', mock)))
  t.same(new Set(many), new Set([secret]))
})

t.test('a new master key opens sealed provider keys only together with the old master key', async (t) => {
  const url = await cluster.database()
  const before = await cluster.store(t, url, with_('a'))
  const { id } = await organization(before, 'a')
  const providers = Array.from({ length: 230 }, (_, index) => `mock-${index}`)
  for (const provider of providers) await before.providerKeys.put(id, provider, secret)

  const stranger = await cluster.store(t, url, with_('x'))
  t.equal(await stranger.sealedSecrets.unreadable(), 230)
  await t.rejects(open(stranger, id, 'mock-7'), { message: /PARLEY_PREVIOUS_MASTER_KEYS/ })
  t.same(await stranger.sealedSecrets.reseal(), { resealed: 0, failed: 0 })

  const during = await cluster.store(t, url, with_('b', 'z', 'a'))
  t.equal(await during.sealedSecrets.unreadable(), 0)
  t.equal(await open(during, id, 'mock-7'), secret, 'what was sealed before still opens')
  await cluster.sql(t, url)`update provider_keys set sealed = '\\x00' where provider = 'mock-3'`
  t.same(await during.sealedSecrets.reseal(), { resealed: 229, failed: 1 }, 'one that does not open holds up nothing')

  const after = await cluster.store(t, url, with_('b'))
  t.equal(await open(after, id, 'mock-7'), secret)
  t.equal(await after.sealedSecrets.unreadable(), 1)
})
