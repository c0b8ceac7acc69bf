/** The organization's API keys over the API: their secrets, scopes, policies, expiry and revocation. */
import t from 'tap'
import type { Scope } from '../../domain/records/organization.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { type Administration, call, faultOf, startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Key = { id: string; name: string; secret: string; policy: object; budget: { microUsd: string } | null }
type Shown = Record<string, unknown>

const administers: readonly Scope[] = ['router', 'platform', 'admin']
const invalid = (...paths: string[]) => ({ status: 400, code: 'VALIDATION_ERROR', paths })
const notFound = { status: 404, code: 'NOT_FOUND' }

/** Policies with texts that no JSON document in Postgres can hold. */
const unstorable = ['\0', '\ud800', '\udc00'].flatMap((character) => [
  { voice: `a${character}` },
  { chain: { stt: [`a/b${character}`] } },
  { allowed_origins: [`app://a${character}`] },
  { allow_providers: [`a${character}`] },
  { aliases: { [`a${character}`]: 'auto' } },
  { aliases: { a: `b:c${character}` } },
])

async function administrator(name: string, scopes = administers): Promise<Target & { id: string; keyId: string }> {
  return admin.organization(name, { scopes })
}

async function create(target: Target, body: object): Promise<Key> {
  const made = await call(target, 'POST', '/v1/keys', body)
  t.equal(made.status, 201, made.status === 201 ? 'the key is created' : made.text)
  return made.json<Key>()
}

const list = async (target: Target, query = '') => (await call(target, 'GET', `/v1/keys${query}`)).json<Shown[]>()
const models = async (key: string) => (await call({ url: parley.url, key }, 'GET', '/router/v1/models')).status
const agents = async (key: string) => (await call({ url: parley.url, key }, 'GET', '/v1/agents')).status
const ends = (key: string) => until('the key has ended', async () => (await models(key)) === 401)

t.test('createKey shows the secret once, and listKeys shows the key without it', async (t) => {
  const acme = await administrator('creates keys')
  const key = await create(acme, { name: 'shop', scopes: ['router'] })
  t.match(key.secret, /^sk_live_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/)
  t.equal(await models(key.secret), 200)
  t.equal(await agents(key.secret), 403, 'the key has no other scope')
  const { secret, ...shown } = key
  const listed = await list(acme)
  t.same(listed.at(-1), { ...shown, lastUsedAt: listed.at(-1)?.['lastUsedAt'] })
  t.match(shown, {
    publicId: secret.slice(0, 'sk_live_'.length + 8),
    scopes: ['router'],
    test: false,
    policy: {},
    createdBy: { type: 'api_key', id: acme.keyId, name: 'of a test' },
    rotatedAt: null,
    expiresAt: null,
    budget: null,
  })
  t.match(listed[0], { id: acme.keyId, createdBy: { type: 'operator', id: null, name: null } })
  t.notMatch(JSON.stringify(listed), secret)
  const [stored] = await sql<[object]>`select * from api_keys where id = ${key.id}`
  t.notMatch(JSON.stringify(stored), secret, 'the secret is not stored')
  t.notMatch(parley.output(), secret)
})

t.test('a key with limits makes and changes no key beyond these limits', async (t) => {
  const acme = await administrator('bounds keys')
  const scopes = [...administers]
  const budget = { microUsd: 1_000_000, period: 'day' }
  const expiresAt = '2900-01-01T00:00:00.000Z'
  const limits = { budget, allow_providers: ['local', 'openai'], max_concurrency: 4 }
  const wide = await create(acme, { name: 'wide', scopes: ['router'] })
  const maker = await create(acme, { name: 'maker', scopes, policy: limits, expiresAt })
  const target = { url: parley.url, key: maker.secret }
  const forbidden = { status: 403, code: 'FORBIDDEN' }
  const refused = async (body: object, title: string) =>
    t.match(
      faultOf(await call(target, 'POST', '/v1/keys', { name: 'x', scopes: ['router'], ...body })),
      forbidden,
      title,
    )
  await refused({ policy: limits }, 'no end')
  await refused({ policy: limits, expiresAt: '2900-01-01T00:00:01.000Z' }, 'a later end')
  await refused({ expiresAt }, 'no budget')
  await refused({ policy: { ...limits, budget: { microUsd: 1_000_001, period: 'day' } }, expiresAt }, 'a larger budget')
  await refused({ policy: { ...limits, budget: { microUsd: 10, period: 'month' } }, expiresAt }, 'another period')
  await refused({ policy: { ...limits, allow_providers: ['anthropic'] }, expiresAt }, 'another provider')
  await refused({ policy: { budget, allow_providers: ['local'] }, expiresAt }, 'more at once')
  const policy = { budget: { microUsd: 500, period: 'day' }, allow_providers: ['local'], max_concurrency: 1 }
  const made = await create(target, { name: 'within', scopes: ['router'], policy, expiresAt })
  for (const id of [maker.id, made.id])
    t.match(faultOf(await call(target, 'PATCH', `/v1/keys/${id}`, { policy: {} })), forbidden, 'the limits stay')
  t.match(faultOf(await call(target, 'PATCH', '/v1/keys/key_0123456789012345678901', { policy: {} })), notFound)
  t.equal((await call(target, 'PATCH', `/v1/keys/${made.id}`, { policy: limits })).status, 200)
  t.match(faultOf(await call(target, 'POST', `/v1/keys/${wide.id}/rotate`)), forbidden, 'a secret without limits')
  t.equal((await call(target, 'POST', `/v1/keys/${made.id}/rotate`)).status, 200)
  const invited = await call(acme, 'POST', '/v1/invitations', { email: 'kim@example.com', role: 'viewer' })
  t.equal(invited.status, 201)
  const again = `/v1/invitations/${invited.json<{ id: string }>().id}/resend`
  const invitation = { email: 'lee@example.com', role: 'viewer' }
  t.match(faultOf(await call(target, 'POST', '/v1/invitations', invitation)), forbidden, 'a person has no limits')
  t.match(faultOf(await call(target, 'POST', again)), forbidden, 'the link of an invitation')
  t.equal((await call(acme, 'PATCH', `/v1/keys/${maker.id}`, { policy: {} })).status, 200)
})

t.test("createKey stores the API key's policy and expiry time, and can create a test key", async (t) => {
  const acme = await administrator('creates special keys')
  const policy = { allow_providers: ['local'], budget: { microUsd: 5_000_000, period: 'month' } }
  const expiresAt = '2999-01-01T00:00:00.000Z'
  const key = await create(acme, { name: 'test', scopes: ['router'], test: true, policy, expiresAt })
  t.match(key.secret, /^sk_test_/)
  t.match(key, { policy, expiresAt, test: true, budget: { microUsd: '5000000', spentMicroUsd: '0' } })
  const refusedBodies: [object, ...string[]][] = [
    [{ scopes: ['router'] }, '/name'],
    [{ name: ' ', scopes: ['router'] }, '/name'],
    [{ name: 'a\nb', scopes: ['router'] }, '/name'],
    [{ name: 'x'.repeat(201), scopes: ['router'] }, '/name'],
    [{ name: 'x', scopes: [] }, '/scopes'],
    [{ name: 'x', scopes: ['router', 'router'] }, '/scopes'],
    [{ name: 'x', scopes: ['everything'] }, '/scopes/0'],
    [{ name: 'x', scopes: ['router'], policy: { voices: 1 } }, '/policy/voices'],
    [{ name: 'x', scopes: ['router'], policy: { language: 'no language' } }, '/policy'],
    [{ name: 'x', scopes: ['router'], policy: { aliases: { a: 'b', b: 'a' } } }, '/policy'],
    ...unstorable.map((policy): [object, string] => [{ name: 'x', scopes: ['router'], policy }, '/policy']),
    [{ name: 'x', scopes: ['router'], expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
    [{ name: 'x', scopes: ['router'], secret: 'sk_live_mine' }, '/secret'],
  ]
  for (const [body, ...paths] of refusedBodies)
    t.same(faultOf(await call(acme, 'POST', '/v1/keys', body)), invalid(...paths), JSON.stringify(body).slice(0, 80))
})

t.test("by an API key createKey grants only that key's scopes, and by an admin user every scope", async (t) => {
  const acme = await administrator('gives scopes', ['admin', 'platform'])
  const refused = await call(acme, 'POST', '/v1/keys', { name: 'more', scopes: ['platform', 'rmsg'] })
  t.match(faultOf(refused), { status: 403, code: 'FORBIDDEN' })
  t.match(refused.text, /does not carry the scope rmsg/)
  await create(acme, { name: 'less', scopes: ['platform'] })
  const person = await signedIn(admin, acme.id, 'ada@keys.example', 'admin')
  const key = await create(person, { name: 'all', scopes: ['router', 'realtime', 'platform', 'rmsg', 'admin'] })
  t.match(key, { createdBy: { type: 'user', name: 'ada@keys.example' } })
  const rotated = await call(acme, 'POST', `/v1/keys/${key.id}/rotate`)
  t.match(faultOf(rotated), { status: 403, code: 'FORBIDDEN' }, 'nor does it get the secret of a key with more scopes')
  t.equal(await models(key.secret), 200)
  t.equal((await call(acme, 'POST', `/v1/keys/${acme.keyId}/rotate`, { overlapSeconds: 60 })).status, 200)
})

t.test("updateKey changes an API key's name and policy, and the next request follows the new policy", async (t) => {
  const acme = await administrator('changes keys')
  const { secret, ...key } = await create(acme, { name: 'shop', scopes: ['router'], policy: { language: 'en' } })
  const at = `/v1/keys/${key.id}`
  t.same((await call(acme, 'PATCH', at, {})).json(), key)
  const named = (await call(acme, 'PATCH', at, { name: 'web shop' })).json<Key>()
  t.match(named, { name: 'web shop', policy: { language: 'en' } })
  const budget = { microUsd: 1_000, period: 'day' }
  const changed = (await call(acme, 'PATCH', at, { policy: { budget } })).json<Key>()
  t.same([changed.policy, changed.budget?.microUsd], [{ budget }, '1000'], 'the policy is replaced as a whole')
  t.equal((await call(acme, 'PATCH', at, { policy: {} })).json<Key>().budget, null)
  t.same(faultOf(await call(acme, 'PATCH', at, { scopes: ['admin'] })), invalid('/scopes'))
  t.same(faultOf(await call(acme, 'PATCH', at, { name: null })), invalid('/name'))
  t.same(faultOf(await call(acme, 'PATCH', at, { policy: { voice: 'a\0' } })), invalid('/policy'))
  t.equal(await models(secret), 200)
})

t.test('rotateKey gives an API key a new secret, and the old secret works for overlapSeconds', async (t) => {
  const acme = await administrator('rotates keys')
  const { id, secret } = await create(acme, { name: 'shop', scopes: ['router'] })
  const at = `/v1/keys/${id}/rotate`
  const over = (await call(acme, 'POST', at, { overlapSeconds: 3600 })).json<Key & { previousExpiresAt: string }>()
  t.match(over, { id, previousExpiresAt: /Z$/, rotatedAt: /Z$/ })
  for (const each of [secret, over.secret]) t.equal(await models(each), 200)
  const next = (await call(acme, 'POST', at)).json<Key>()
  t.equal(await models(next.secret), 200)
  for (const each of [secret, over.secret]) await ends(each)
  t.match(next, { previousExpiresAt: null })
  t.same(faultOf(await call(acme, 'POST', at, { overlapSeconds: 2_592_001 })), invalid('/overlapSeconds'))
})

t.test("revokeKey revokes any API key, even the request's own, and a revoked key cannot be changed", async (t) => {
  const acme = await administrator('revokes keys')
  const { id, secret } = await create(acme, { name: 'shop', scopes: ['router', 'admin'] })
  const own = { url: parley.url, key: secret }
  t.same((await call(own, 'DELETE', `/v1/keys/${id}`)).json(), { revoked: true })
  await ends(secret)
  const revoked = { status: 409, code: 'KEY_REVOKED' }
  t.match(faultOf(await call(acme, 'DELETE', `/v1/keys/${id}`)), revoked)
  t.match(faultOf(await call(acme, 'PATCH', `/v1/keys/${id}`, { name: 'x' })), revoked)
  t.match(faultOf(await call(acme, 'POST', `/v1/keys/${id}/rotate`)), revoked)
  t.same(
    (await list(acme)).map((key) => key['id']),
    [acme.keyId],
  )
  t.match(await list(acme, '?revoked=true'), [{ id, revokedAt: /Z$/, budget: null }])
})

t.test("an unknown API key and another organization's API key are not found", async (t) => {
  const [acme, stranger] = [await administrator('owns keys'), await administrator('asks for keys')]
  for (const id of [acme.keyId, 'key_0123456789012345678901']) {
    t.match(faultOf(await call(stranger, 'PATCH', `/v1/keys/${id}`, { name: 'stolen' })), notFound)
    t.match(faultOf(await call(stranger, 'POST', `/v1/keys/${id}/rotate`)), notFound)
    t.match(faultOf(await call(stranger, 'DELETE', `/v1/keys/${id}`)), notFound)
  }
  t.equal(await agents(acme.key), 200)
  t.notMatch(JSON.stringify(await list(stranger)), acme.keyId)
})

t.test('an organization can have at most 1,000 API keys', async (t) => {
  const acme = await administrator('has many keys')
  await sql`
    insert into api_keys (organization_id, id, name, public_id, lookup, digest, scopes, policy, test, created_at)
    select ${acme.id}, 'key_many_' || n, 'many', 'sk_live_', 'many ' || n, sha256(n::text::bytea), '[]', '{}', false, now()
    from generate_series(1, 998) n`
  const [left, over] = await Promise.all(
    ['a', 'b'].map((name) => call(acme, 'POST', '/v1/keys', { name, scopes: ['router'] })),
  )
  t.same([left?.status, over?.status].sort(), [201, 409], 'one of two requests makes the last key')
  const refused = await call(acme, 'POST', '/v1/keys', { name: 'c', scopes: ['router'] })
  t.match(faultOf(refused), { status: 409, code: 'LIMIT_REACHED' })
  t.match(refused.text, /There are 1000 API keys already/)
  t.equal((await list(acme)).length, 1_000)
})

async function signedIn(
  { store }: Administration,
  organizationId: string,
  email: string,
  role: 'admin',
): Promise<Target> {
  await store.users.create(organizationId, email, role)
  const issued = await store.users.issue(organizationId, email, 'user_token')
  return { url: parley.url, key: issued?.secret ?? '' }
}
