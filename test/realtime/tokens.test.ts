/** Tests ephemeral tokens with a real Postgres: how often and how long a token works, and clients without a token. */
import { createHmac, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { createEphemeralTokens } from '../../domain/access/ephemeral.ts'
import type { Caller, KeyPolicy, Scope } from '../../domain/records/organization.ts'
import { createAuthenticate } from '../../handlers/authenticate.ts'
import { createRealtimeSession } from '../../handlers/compat/surface.ts'
import { createAdmit } from '../../handlers/realtime/admit.ts'
import type { Context, RefusalKind } from '../../runtime/engine/handler.ts'
import type { UpgradeRequest } from '../../runtime/engine/socket.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { connect } from '../../store/postgres/connect.ts'
import { transactionEach } from '../../store/postgres/tenant.ts'
import { createUsedTokens } from '../../store/sharing/used-tokens.ts'
import type { Store } from '../../store/store.ts'
import { organization, TestCluster } from '../store/cluster.ts'
import { storeClock } from '../time/store-clock.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const masterKey = 'a master key of thirty-two characters'
const tokensOf = (store: Store, clock = storeClock(), key = masterKey) =>
  createEphemeralTokens({ masterKey: key, keys: store.keys, used: store.usedTokens, clock, tokenId: randomUUID })

async function setUp(t: Test, policy: KeyPolicy = {}, scopes: readonly Scope[] = ['realtime']) {
  const clock = storeClock()
  const url = await cluster.database()
  const store = await cluster.store(t, url, { clock })
  const { id } = await organization(store, 'acme')
  const made = await store.keys.create({
    organizationId: id,
    name: 'k',
    scopes,
    test: false,
    policy,
    expiresAtMs: null,
  })
  if (!made) throw new Error('no key')
  const caller = await store.keys.find(id, made.key.id)
  if (!caller) throw new Error('no caller')
  const tokens = tokensOf(store, clock)
  const owners = new Owners()
  const admit = createAdmit({
    authenticate: createAuthenticate({ keys: store.keys, owners }),
    redeem: tokens.redeem,
    owners,
    admitStream: () => Promise.resolve(),
  })
  return { ...made, clock, url, store, id, caller, tokens, owners, admit }
}

const anyone = () => {}
const host = 'speech.example:8080'

function upgrade(changes: Partial<UpgradeRequest> = {}): UpgradeRequest {
  return {
    channelId: 'transcribeStream',
    scope: 'realtime',
    role: 'member',
    requestId: 'req_1',
    authorization: '',
    credential: '',
    origin: `http://${host}`,
    host,
    path: {},
    query: new URLSearchParams(),
    logFields: {},
    belongsTo: () => {},
    joinTrace: () => {},
    ...changes,
  }
}

t.test('an ephemeral token opens one socket for its API key', async (t) => {
  const { tokens, caller, clock, store, url, id, key } = await setUp(t, { language: 'es-MX' })

  await t.test('a token is a valid subprotocol, and has the id of its API key without the key', (t) => {
    const { value, expiresInS } = tokens.mint(caller)
    t.equal(expiresInS, 60)
    t.match(value, /^v1\.[\w-]+\.[\w-]{43}$/)
    const payload = JSON.parse(Buffer.from(value.split('.')[1] ?? '', 'base64url').toString()) as object
    t.match(payload, { org: id, key: key.id, exp: Number, jti: String })
    t.end()
  })

  await t.test("a token opens one socket, with its key's current policy", async (t) => {
    const { value } = tokens.mint(caller)
    const { caller: redeemed } = (await tokens.redeem(value, anyone)) ?? {}
    t.match(redeemed, { keyId: key.id, organization: { id }, policy: { language: 'es-MX' } })
    t.equal(await tokens.redeem(value, anyone), null)
    const { value: raced } = tokens.mint(caller)
    const other = tokensOf(await cluster.store(t, url, { clock }), clock)
    const answers = await Promise.all([tokens.redeem(raced, anyone), other.redeem(raced, anyone)])
    t.equal(answers.filter((answer) => answer !== null).length, 1, 'in one of two processes')
  })

  await t.test('a refused connection does not use up its token', async (t) => {
    const { value } = tokens.mint(caller)
    const refuse = () => {
      throw new Error('not you')
    }
    await t.rejects(tokens.redeem(value, refuse), { message: 'not you' })
    t.ok(await tokens.redeem(value, anyone))
  })

  await t.test('a token expires after 60 seconds', async (t) => {
    const [early, late] = [tokens.mint(caller).value, tokens.mint(caller).value]
    clock.setMs += 59_000
    t.ok(await tokens.redeem(early, anyone))
    clock.setMs += 1_001
    t.equal(await tokens.redeem(late, anyone), null)
  })

  await t.test('an expired token does not become valid again if the clock is set back', async (t) => {
    const { value } = tokens.mint(caller)
    clock.setMs += 61_000
    t.equal(await tokens.redeem(value, anyone), null)
    clock.setMs -= 3_600_000
    t.equal(await tokens.redeem(value, anyone), null, 'it ends in 59 minutes, and lives for one')
    t.ok(await tokens.redeem(tokens.mint(caller).value, anyone), 'a new token is good')
    clock.setMs += 3_600_000
  })

  await t.test('a token that was changed or made by another server opens no socket', async (t) => {
    const { value } = tokens.mint(caller)
    const [version, payload = '', signature = ''] = value.split('.')
    const stretched = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { exp: number }
    stretched.exp += 1_000_000
    const longer = Buffer.from(JSON.stringify(stretched)).toString('base64url')
    const unkeyed = createHmac('sha256', masterKey).update(`v1.${longer}`).digest('base64url')
    const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
    const wrong = [
      '',
      'v1',
      'v1..',
      `${version}.${longer}.${signature}`,
      `${version}.${payload}.${flipped}`,
      `${version}.${payload}.${signature.slice(1)}`,
      `${version}.${payload}.`,
      `v1.${longer}.${unkeyed}`,
      `v2.${payload}.${signature}`,
      `${value}=`,
      `${value}.x`,
      `v1.${'A'.repeat(100_000)}.${signature}`,
      tokensOf(store, clock, 'another master key of 32 characters').mint(caller).value,
    ]
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (let at = 0; at < signature.length; at++)
      for (const letter of letters)
        if (letter !== signature[at])
          wrong.push(`${version}.${payload}.${signature.slice(0, at)}${letter}${signature.slice(at + 1)}`)
    for (const [index, token] of wrong.entries()) t.equal(await tokens.redeem(token, anyone), null, `wrong ${index}`)
    t.ok(await tokens.redeem(value, anyone), 'and the true one is good still')
  })

  await t.test('a token works only for its organization', async (t) => {
    const stranger = await organization(store, 'other')
    t.equal(await store.keys.find(stranger.id, key.id), null)
    const foreign: Caller = { ...caller, organization: { ...caller.organization, id: stranger.id } }
    t.equal(await tokens.redeem(tokens.mint(foreign).value, anyone), null)
  })

  await t.test('a token stops working as soon as its key is revoked', async (t) => {
    const { value } = tokens.mint(caller)
    await store.keys.revoke(id, key.id)
    t.equal(await tokens.redeem(value, anyone), null)
  })
})

t.test('an expired key gets no tokens', async (t) => {
  const { store, id, clock } = await setUp(t)
  const expiresAtMs = clock.nowMs() + 1_000
  const made = await store.keys.create({
    organizationId: id,
    name: 'k',
    scopes: [],
    test: true,
    policy: {},
    expiresAtMs,
  })
  t.match(await store.keys.find(id, made?.key.id ?? ''), { test: true })
  clock.setMs += 1_001
  t.equal(await store.keys.find(id, made?.key.id ?? ''), null)
})

t.test('used tokens are deleted after they expire, and are visible only to their organization', async (t) => {
  const { store, url, id, clock } = await setUp(t)
  await store.usedTokens.spend(id, 'old', clock.nowMs() - 120_000)
  await store.usedTokens.spend(id, 'new', clock.nowMs() + 60_000)
  t.equal(await store.usedTokens.spend(id, 'new', clock.nowMs() + 60_000), false)
  t.equal(await store.usedTokens.spend('org_other', 'new', clock.nowMs() + 60_000), true)
  const sql = cluster.sql(t, url)
  const visible = await sql.begin(async (tx) => {
    await tx`set local role parley`
    await tx`select set_config('app.organization', ${id}, true)`
    return tx`select token_id from used_tokens order by token_id`
  })
  t.same([...visible], [{ token_id: 'new' }, { token_id: 'old' }])
  const pools = connect({ databaseUrl: url }, 'sweep', 1)
  t.teardown(() => Promise.all([pools.system.end(), pools.tenant.end()]))
  await createUsedTokens(pools.system, transactionEach(pools.tenant), clock).sweep()
  t.same([...(await sql`select organization_id = ${id} as own from used_tokens where token_id = 'old'`)], [])
  t.equal((await sql`select from used_tokens`).length, 2)
})

t.test('an organization is counted as active as soon as its token is admitted', async (t) => {
  const { admit, tokens, caller, owners } = await setUp(t)
  owners.see('org_other')
  const credential = tokens.mint(caller).value
  await t.rejects(Promise.resolve(admit(upgrade({ credential, origin: 'https://evil.example' }))))
  t.notOk(owners.areSeveral)
  await admit(upgrade({ credential }))
  t.ok(owners.areSeveral)
})

t.test('a socket is opened only for allowed clients and origins', async (t) => {
  const friend = 'https://app.example'
  const { admit, tokens, caller, secret, store, id } = await setUp(t, { allowedOrigins: [friend] })
  const token = () => tokens.mint(caller).value
  const opens = async (request: Partial<UpgradeRequest>, message: string) =>
    t.match(await admit(upgrade(request)), { keyId: caller.keyId }, message)
  const refused = (request: Partial<UpgradeRequest>, kind: RefusalKind, message: string) =>
    t.rejects(
      Promise.resolve().then(() => admit(upgrade(request))),
      { name: 'Refusal', kind },
      message,
    )
  const bearer = { authorization: `Bearer ${secret}` }

  await opens({ ...bearer, origin: '' }, 'a server with a key')
  await opens({ ...bearer, origin: friend }, 'a key from an origin on its list')
  await opens({ credential: token() }, 'a token from our own origin')
  await opens({ credential: token(), origin: `https://${host}` }, 'also where TLS ends in front of us')
  await opens({ credential: token(), origin: friend }, 'a token from an origin on the list of its key')
  await refused({ origin: '' }, 'unauthenticated', 'nobody')
  await refused({ authorization: 'Bearer sk_live_000000000000000000000000' }, 'unauthenticated', 'no such key')
  await refused({ authorization: 'Basic eDp5' }, 'unauthenticated', 'another scheme')
  await refused({ credential: 'v1.x.y' }, 'unauthenticated', 'no token')
  await refused({ credential: secret }, 'unauthenticated', 'a key where a token belongs')
  await opens({ credential: token(), origin: '' }, 'an app with a token, which has no origin')
  await opens({ authorization: `Bearer ${token()}`, origin: '' }, 'an app that sends its token as a key')
  await opens({ authorization: `Bearer ek_${token()}`, origin: '' }, 'as clients of OpenAI spell a token')
  await refused({ authorization: `Bearer ${token()}x` }, 'unauthenticated', 'a token that was changed')
  await refused({ ...bearer, credential: token(), origin: 'http://x.example' }, 'foreign_origin', 'the key counts')

  for (const origin of [
    'https://evil.example',
    'null',
    `${friend}.evil`,
    `${friend}:444`,
    'http://app.example',
    'http://',
  ])
    await refused({ credential: token(), origin }, 'foreign_origin', origin)
  const kept = token()
  await refused({ credential: kept, origin: 'https://evil.example' }, 'foreign_origin', 'from a foreign page')
  await opens({ credential: kept }, 'a refused origin has not spent the token')
  await refused({ credential: kept }, 'unauthenticated', 'used')

  const late = token()
  await store.organizations.change(id, { isDisabled: true })
  await refused({ credential: late }, 'disabled', 'a token of a disabled organization')
  await store.organizations.change(id, { isDisabled: false })
  await opens({ credential: late }, 'a disabled organization has not spent the token')

  const facade = { channelId: 'transcriptionRealtime' }
  await opens({ ...facade, credential: secret, origin: '' }, 'a key as a subprotocol, where clients of OpenAI send it')
  await opens({ ...facade, credential: token() }, 'a token there')
  await refused({ ...facade, credential: secret, origin: 'https://evil.example' }, 'foreign_origin', 'a leaked key')

  const narrow = {
    organizationId: id,
    name: 'n',
    scopes: ['router'],
    test: false,
    policy: {},
    expiresAtMs: null,
  } as const
  const router = await store.keys.create(narrow)
  if (!router) throw new Error('no key')
  await refused({ authorization: `Bearer ${router.secret}` }, 'forbidden', 'a key of another scope')
  const { value } = tokens.mint({ ...caller, keyId: router.key.id })
  await refused({ credential: value }, 'forbidden', 'a token of such a key')
})

t.test('the answer with a token states its lifetime and must not be stored', async (t) => {
  const { tokens, caller } = await setUp(t)
  const answer = createRealtimeSession(tokens.mint)({ body: undefined }, { caller } as Context<Caller>)
  t.match(answer, { status: 200, headers: { 'Cache-Control': 'no-store' } })
  const { value, expires_in } = answer.body.client_secret
  t.equal(expires_in, 60)
  t.ok(await tokens.redeem(value, anyone))
})
