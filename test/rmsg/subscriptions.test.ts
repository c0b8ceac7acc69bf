/** Tests subscriptions to the events of rich messages. */
import t from 'tap'
import { matching } from '../../domain/rmsg/subscriptions.ts'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { fc } from '../random.ts'
import type { Target } from '../router/requests.ts'

// The server and the test's store share this key, so the store can open sealed secrets.
const { admin } = await startOwnAdministered(t, { PARLEY_MASTER_KEY: 'm'.repeat(32) })

const path = '/v1/rmsg-phone-numbers/webhook'
const url = 'https://shop.example/rmsg'
const scopes = ['platform', 'rmsg'] as const
type Row = { id: string; url: string; tags: object; signingSecretSource: string; updatedAt: string }
type List = { configured: boolean; subscriptions: Row[] }

async function organization(name: string, changes: object = {}) {
  const made = await admin.organization(name, { scopes })
  await admin.store.organizations.change(made.id, { rmsgEnabled: true, rmsgLegacyInventory: true, ...changes })
  return made
}
const put = (target: Target, body: object, query = '') => call(target, 'PUT', `${path}${query}`, body)
const list = async (target: Target, query = '') => (await call(target, 'GET', `${path}${query}`)).json<List>()
const secretsOf = async (organizationId: string) =>
  (await admin.store.rmsgSubscriptions.targets({ organizationId, test: false })).map(({ signing }) => signing)

t.test('putRmsgSubscription: a new URL makes a subscription, and a known URL replaces its subscription', async (t) => {
  const acme = await organization('puts')
  t.same(await list(acme), { configured: false, subscriptions: [] })
  const made = await put(acme, { url, tags: { campaign: 'spring' }, signingSecret: 'long enough' })
  t.equal(made.status, 201, made.text)
  const { id, updatedAt, ...rest } = made.json<Row>()
  t.match(updatedAt, /Z$/)
  t.same(rest, {
    configured: true,
    url,
    tags: { campaign: 'spring' },
    signingSecretSource: 'custom',
    eventTypes: ['rmsg.received', 'rmsg.reaction_received', 'rmsg.sent', 'rmsg.delivered', 'rmsg.delivery_failed'],
  })
  t.notMatch(made.text, 'long enough')
  const replaced = await put(acme, { url })
  t.equal(replaced.status, 200)
  t.match(replaced.json(), { id, tags: {}, signingSecretSource: 'organization' })
  t.same(await secretsOf(acme.id), [null])
  t.equal((await put(acme, { url: `${url}/2`, tags: {} })).status, 201)
  const { configured, subscriptions } = await list(acme)
  t.equal(configured, true)
  t.same(
    subscriptions.map((each) => each.url),
    [`${url}/2`, url],
    'newest first',
  )
})

t.test("putRmsgSubscription: subscriptions' URLs are parsed before they are compared", async (t) => {
  const acme = await organization('compares')
  const { id } = (await put(acme, { url: 'https://shop.example/a/../é' })).json<Row>()
  for (const same of ['https://SHOP.example/é', 'https://shop.example:443/%C3%A9', 'https://shop.example/./é']) {
    const answer = await put(acme, { url: same })
    t.equal(answer.status, 200, same)
    t.match(answer.json(), { id, url: same })
  }
  for (const other of ['https://shop.example/É', 'https://shop.example/é/', 'https://shop.example/é?a'])
    t.equal((await put(acme, { url: other })).status, 201, other)
})

t.test('putRmsgSubscription: for a day after a change of secret, events are signed with both secrets', async (t) => {
  const acme = await organization('secrets')
  await put(acme, { url, signingSecret: 'first secret' })
  t.match(await secretsOf(acme.id), [{ secret: 'first secret', previous: null }])
  await put(acme, { url, signingSecret: 'second secret' })
  const [signing] = await secretsOf(acme.id)
  t.match(signing, { secret: 'second secret', previous: { secret: 'first secret' } })
  const leftMs = (signing?.previous?.untilMs ?? 0) - Date.now()
  t.ok(leftMs <= 86_400_000 && leftMs > 82_800_000)
  await put(acme, { url, signingSecret: 'second secret' })
  t.match(await secretsOf(acme.id), [signing], 'the same secret changes nothing')
  await put(acme, { url, signingSecret: null })
  t.same(await secretsOf(acme.id), [null])
  await put(acme, { url, signingSecret: 'third secret' })
  t.match(await secretsOf(acme.id), [{ secret: 'third secret', previous: null }])
})

t.test('putRmsgSubscription: each field is accepted at its limit and refused beyond its limit', async (t) => {
  const acme = await organization('bounds')
  const tags = (count: number, key = 'k', value = 'v') =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${key}${at}`, value]))
  const long = 'l'.repeat(2048 - 'https://shop.example/'.length)
  for (const body of [
    { url: `https://shop.example/${long}` },
    { url, tags: tags(20) },
    { url, tags: { ['😀'.repeat(64)]: '😀'.repeat(256) } },
    { url, tags: null },
    { url, signingSecret: 's'.repeat(8) },
    { url, signingSecret: 's'.repeat(256) },
  ])
    t.match((await put(acme, body)).status, /^20[01]$/)
  const refused: [object, string][] = [
    [{}, '/url'],
    [{ url: `https://shop.example/${long}l` }, '/url'],
    [{ url: 'http://shop.example/' }, '/url'],
    [{ url: 'https://127.0.0.1/' }, '/url'],
    [{ url: 'https://[::1]/' }, '/url'],
    [{ url: 'https://a:b@shop.example/' }, '/url'],
    [{ url: 'no address' }, '/url'],
    [{ url, tags: tags(21) }, '/tags'],
    [{ url, tags: { '': 'v' } }, '/tags'],
    [{ url, tags: tags(1, 'k'.repeat(64)) }, '/tags'],
    [{ url, tags: { k: 'v'.repeat(257) } }, '/tags/k'],
    [{ url, tags: { k: 1 } }, '/tags/k'],
    [{ url, signingSecret: 's'.repeat(7) }, '/signingSecret'],
    [{ url, signingSecret: 's'.repeat(257) }, '/signingSecret'],
    [{ url, events: [] }, '/events'],
  ]
  const before = await list(acme)
  for (const [body, at] of refused) {
    const fault = faultOf(await put(acme, body))
    t.match(fault, { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(body).slice(0, 80))
    t.ok(fault.paths?.[0]?.startsWith(at), `${at} ${JSON.stringify(fault.paths)}`)
  }
  t.same(await list(acme), before)
})

t.test('putRmsgSubscription accepts at most 20 subscriptions, also for simultaneous requests', async (t) => {
  const acme = await organization('many')
  const answers = await Promise.all(Array.from({ length: 22 }, (_, at) => put(acme, { url: `${url}/${at}` })))
  t.same(answers.map(({ status }) => status).sort(), [...Array<number>(20).fill(201), 409, 409])
  t.same(faultOf(await put(acme, { url: `${url}/more` })), { status: 409, code: 'LIMIT_REACHED' })
  const [first] = (await list(acme)).subscriptions
  t.equal((await put(acme, { url: first?.url })).status, 200, 'a known one is still replaced')
})

t.test('deleteRmsgSubscription deletes one subscription, and deleteRmsgSubscriptions deletes all', async (t) => {
  const acme = await organization('deletes')
  const { id } = (await put(acme, { url, signingSecret: 'long enough' })).json<Row>()
  for (const at of [1, 2, 3]) await put(acme, { url: `${url}/${at}` })
  const remove = (which: string) => call(acme, 'DELETE', `${path}${which}`)
  t.equal((await remove(`/${id}`)).status, 204)
  t.same(faultOf(await remove(`/${id}`)), { status: 404, code: 'NOT_FOUND' })
  t.equal((await list(acme)).subscriptions.length, 3)
  for (const before of [3, 0]) {
    t.equal((await list(acme)).subscriptions.length, before)
    t.equal((await remove('')).status, 204)
    t.same(await list(acme), { configured: false, subscriptions: [] })
  }
})

t.test("the admin organization manages other organizations' subscriptions", async (t) => {
  const acme = await organization('managed')
  const owner = await organization('admin', { adminOrganization: true, rmsgEnabled: false })
  const query = `?organizationId=${acme.id}`
  const made = await put(owner, { url }, query)
  t.equal(made.status, 201)
  const { id } = made.json<Row>()
  t.match(await list(acme), { subscriptions: [{ id, url }] })
  t.match(await list(owner, query), await list(acme))
  t.same(await list(owner), { configured: false, subscriptions: [] }, 'it has its own')
  t.equal((await call(owner, 'DELETE', `${path}/${id}`)).status, 404)
  t.equal((await call(owner, 'DELETE', `${path}/${id}${query}`)).status, 204)
  await put(acme, { url })
  t.equal((await call(owner, 'DELETE', `${path}${query}`)).status, 204)
  t.equal((await list(acme)).configured, false)
  const unknown = await call(owner, 'GET', `${path}?organizationId=org_unknown`)
  t.same(faultOf(unknown), { status: 404, code: 'NOT_FOUND' })
  const invalid = await put(owner, { url: 'http://shop.example/' }, '?organizationId=org_unknown')
  t.same(faultOf(invalid), { status: 400, code: 'VALIDATION_ERROR', paths: ['/url'] }, 'the address comes first')
  for (const organizationId of [acme.id, owner.id, 'org_unknown'])
    for (const [method, at, body] of [
      ['GET', path, undefined],
      ['PUT', path, { url }],
      ['DELETE', path, undefined],
      ['DELETE', `${path}/${id}`, undefined],
    ] as const) {
      const refused = await call(acme, method, `${at}?organizationId=${organizationId}`, body)
      t.same(faultOf(refused), { status: 400, code: 'VALIDATION_ERROR', paths: ['organizationId'] })
    }
})

t.test('NOT_ENABLED_FOR_ORGANIZATION is checked after the scope and before the body', async (t) => {
  const off = await admin.organization('off', { scopes })
  const refused = { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' }
  t.same(faultOf(await put(off, { nonsense: true })), refused)
  t.same(faultOf(await call(off, 'GET', `${path}?organizationId=`)), refused)
  t.same(faultOf(await call(off, 'DELETE', path)), refused)
  t.same(faultOf(await call(off, 'DELETE', `${path}/x`)), refused)
  t.same(faultOf(await put(await admin.key(off.id), { nonsense: true })), { status: 403, code: 'FORBIDDEN' })
})

const word = fc.constantFrom('a', 'A', 'b', 'toString', '__proto__', '')
const tagsOf = fc.array(fc.tuple(word, word), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs))

t.test("a subscription matches if the sent message has all of the subscription's tags", (t) => {
  fc.assert(
    fc.property(fc.array(tagsOf, { maxLength: 5 }), tagsOf, (all, sent) => {
      const subscriptions = all.map((tags, id) => ({ id, tags }))
      const expected = subscriptions.filter(({ tags }) => {
        const pairs = new Set(Object.entries(sent).map((pair) => JSON.stringify(pair)))
        return Object.entries(tags).every((pair) => pairs.has(JSON.stringify(pair)))
      })
      t.same(matching(subscriptions, sent), expected)
      const catchAll = subscriptions.filter(({ tags }) => Object.keys(tags).length === 0)
      t.same(matching(subscriptions, {}), catchAll, 'a message without tags')
    }),
  )
  t.end()
})

t.test('a live or test event matches only the live or test subscriptions of its organization', async (t) => {
  const [acme, other] = [await organization('own'), await organization('other')]
  const test = await admin.key(acme.id, { scopes, test: true })
  const { id } = (await put(acme, { url })).json<Row>()
  await put(other, { url })
  const simulated = (await put(test, { url })).json<Row & { test: boolean }>()
  t.equal(simulated.test, true)
  const ids = async (isTest: boolean) =>
    matching(await admin.store.rmsgSubscriptions.targets({ organizationId: acme.id, test: isTest }), {}).map(
      (each) => each.id,
    )
  t.same([await ids(false), await ids(true)], [[id], [simulated.id]])
})
