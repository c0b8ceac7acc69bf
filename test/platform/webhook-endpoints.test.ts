/** Tests webhook endpoints over the public API: values at and beyond each limit, URLs, headers and secrets. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import { defaults } from '../store/cluster.ts'
import { call, faultOf, startAdministered } from './setup.ts'
import { agentOf, change, create, invalid, least, made, read, type Webhook } from './webhooks.ts'

/** The server and the test's store share this key, so the store can open sealed secrets. */
const PARLEY_MASTER_KEY = defaults.masterKeys().current
const { parley, admin } = await startAdministered(t, {
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '10.0.0.0/8',
  PARLEY_MASTER_KEY,
})

t.test('an endpoint is created, listed, read and deleted', async (t) => {
  const acme = await admin.organization('made')
  const webhook = await made(acme)
  t.match(webhook.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
  const { id, createdAt, updatedAt, ...shown } = webhook
  t.equal(createdAt, updatedAt)
  t.same(shown, {
    ...least,
    allAgents: true,
    agentIds: [],
    filterTags: {},
    headers: {},
    authHeaders: [],
    timeoutMs: 10_000,
    signingSecretSource: 'workspace',
    hasCustomSigningSecret: false,
    extractionFields: [],
    legacyManaged: false,
    disabled: false,
    disabledAt: null,
    disabledReason: null,
    lastDelivery: null,
    last24h: { succeeded: 0, failed: 0, pending: 0 },
  })
  const second = await made(acme, { name: 'Second' })
  t.same((await call(acme, 'GET', '/v1/webhooks')).json(), { data: [second, webhook] }, 'newest first')
  t.same(await read(acme, { id }), webhook)
  const gone = await call(acme, 'DELETE', `/v1/webhooks/${id}`)
  t.same([gone.status, gone.text], [204, ''])
  for (const method of ['GET', 'DELETE']) t.equal((await call(acme, method, `/v1/webhooks/${id}`)).status, 404)
  t.match(await made(await admin.key(acme.id, { test: true })), { test: true })
})

t.test('each field of a webhook endpoint is accepted at its limit and refused beyond its limit', async (t) => {
  const acme = await admin.organization('bounds')
  const agent = await agentOf(acme)
  const text = (length: number) => 'é'.repeat(length)
  const many = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, value]))
  const listed = (count: number, more: object = { value: 'v' }) =>
    Array.from({ length: count }, (_, at) => ({ name: `y-${at}`, ...more }))
  const field = (more: object = {}) => ({ name: 'a', type: 'string', description: 'd', ...more })
  const fields = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, at) => field({ name: `f${at}`, ...more }))
  const options = (count: number) => Array.from({ length: count }, (_, at) => `o${at}`)
  const all = ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording']
  const urlOf = (length: number) => `https://a.example/${'x'.repeat(length - 18)}`
  const taken: object[] = [
    { name: text(120) },
    { events: all },
    { url: urlOf(2048) },
    { filterTags: many(20, text(256)) },
    { filterTags: { [text(64)]: '' } },
    { headers: many(20, 'v'.repeat(1024)) },
    { headers: { ['h'.repeat(64)]: '' } },
    { authHeaders: listed(10, { value: 'v'.repeat(4096) }) },
    { timeoutMs: 1000 },
    { timeoutMs: 30_000 },
    { signingSecret: '8 bytes.' },
    { signingSecret: 'x'.repeat(256) },
    { extractionFields: fields(30) },
    { extractionFields: [field({ name: 'n'.repeat(64) })] },
    { extractionFields: fields(4, { description: text(10_000) }) },
    { extractionFields: [field({ type: 'enum', options: options(50) })] },
    { extractionFields: [field({ type: 'enum', options: [text(120)] })] },
    { events: ['call.analysis'], extractionFields: fields(1) },
    { agentIds: null, filterTags: null, headers: null, authHeaders: null, timeoutMs: null, extractionFields: null },
    { agentIds: [agent], allAgents: false },
  ]
  for (const more of taken) {
    const answer = await create(acme, more)
    t.equal(answer.status, 201, `${JSON.stringify(more).slice(0, 60)} ${answer.text.slice(0, 200)}`)
    t.equal((await call(acme, 'DELETE', `/v1/webhooks/${answer.json<Webhook>().id}`)).status, 204)
  }
  const refused: [object, ...string[]][] = [
    [{ name: '' }, '/name'],
    [{ name: text(121) }, '/name'],
    [{ name: ' \t' }, '/name'],
    [{ name: 'a\0' }, '/name'],
    [{ events: [] }, '/events'],
    [{ events: ['call.ended'] }, '/events/0'],
    [{ events: ['call.report', 'call.report'] }, '/events/1'],
    [{ url: urlOf(2049) }, '/url'],
    [{ agentIds: Array.from({ length: 101 }, (_, at) => `agent_${at}`) }, '/agentIds'],
    [{ agentIds: [agent, agent] }, '/agentIds/1'],
    [{ agentIds: [agent], allAgents: true }, '/allAgents'],
    [{ allAgents: false }, '/agentIds'],
    [{ allAgents: false, agentIds: [] }, '/agentIds'],
    [{ filterTags: many(21, '') }, '/filterTags'],
    [{ filterTags: { a: text(257) } }, '/filterTags/a'],
    [{ headers: many(21, '') }, '/headers'],
    [{ headers: { 'x-a': 'v'.repeat(1025) } }, '/headers/x-a'],
    [{ headers: { 'x-a': 'a\r\nb: c' } }, '/headers/x-a'],
    [{ authHeaders: listed(11) }, '/authHeaders'],
    [{ authHeaders: listed(1, { value: 'v'.repeat(4097) }) }, '/authHeaders/0/value'],
    [{ authHeaders: listed(1, {}) }, '/authHeaders/0/value'],
    [{ headers: { 'X-Key': '' }, authHeaders: [{ name: 'x-key', value: 'v' }] }, '/authHeaders/0/name'],
    [{ timeoutMs: 999 }, '/timeoutMs'],
    [{ timeoutMs: 30_001 }, '/timeoutMs'],
    [{ timeoutMs: 1000.5 }, '/timeoutMs'],
    [{ signingSecret: '7 bytes' }, '/signingSecret'],
    [{ signingSecret: 'x'.repeat(257) }, '/signingSecret'],
    [{ signingSecretSource: 'custom' }, '/signingSecret'],
    [{ signingSecretSource: 'custom', signingSecret: null }, '/signingSecret'],
    [{ signingSecretSource: 'workspace', signingSecret: 'x'.repeat(32) }, '/signingSecret'],
    [{ extractionFields: fields(31) }, '/extractionFields'],
    [{ extractionFields: [field({ name: 'n'.repeat(65) })] }, '/extractionFields/0/name'],
    [{ extractionFields: [field({ name: '1a' })] }, '/extractionFields/0/name'],
    [{ extractionFields: [field(), field()] }, '/extractionFields/1/name'],
    [{ extractionFields: [field({ description: '' })] }, '/extractionFields/0/description'],
    [{ extractionFields: [field({ description: text(10_001) })] }, '/extractionFields/0/description'],
    [{ extractionFields: [...fields(4, { description: text(10_000) }), field()] }, '/extractionFields'],
    [{ extractionFields: [field({ type: 'enum' })] }, '/extractionFields/0/options'],
    [{ extractionFields: [field({ options: ['a'] })] }, '/extractionFields/0/options'],
    [{ extractionFields: [field({ type: 'enum', options: [] })] }, '/extractionFields/0/options'],
    [{ extractionFields: [field({ type: 'enum', options: options(51) })] }, '/extractionFields/0/options'],
    [{ extractionFields: [field({ type: 'enum', options: ['a', 'a'] })] }, '/extractionFields/0/options/1'],
    [{ extractionFields: [field({ type: 'enum', options: [text(121)] })] }, '/extractionFields/0/options/0'],
    [{ events: ['call.status', 'call.pre_call', 'call.recording'], extractionFields: fields(1) }, '/extractionFields'],
    [{ id: 'x' }, '/id'],
    [{ disabled: true }, '/disabled'],
    [{ legacyManaged: true }, '/legacyManaged'],
    [{ name: null }, '/name'],
  ]
  const webhook = await made(acme)
  for (const [more, ...paths] of refused) {
    const title = JSON.stringify(more).slice(0, 80)
    t.same(faultOf(await create(acme, more)), invalid(...paths), title)
    if ('disabled' in more || 'agentIds' in more || title.includes('allAgents')) continue
    t.same(faultOf(await change(acme, webhook, more)), invalid(...paths), `PATCH ${title}`)
  }
  t.same((await call(acme, 'GET', '/v1/webhooks')).json(), { data: [webhook] }, 'what was refused is not stored')
  for (const name of ['', text(65)]) t.equal((await create(acme, { filterTags: { [name]: '' } })).status, 400, name)
  for (const missing of ['name', 'url', 'events'])
    t.same(faultOf(await create(acme, { [missing]: undefined })), invalid(`/${missing}`))
})

t.test('the URL of a webhook endpoint must be https and public, unless the operator allows others', async (t) => {
  const acme = await admin.organization('addresses')
  const refused = [
    'ftp://hooks.example/',
    'https://user@hooks.example/',
    'https://user:pass@hooks.example/',
    'https://hooks.example:22/',
    'https://hooks.example:25/hook',
    'https://8.8.8.8:6667/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://192.168.1.1/',
    'https://172.16.0.1/',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'http://127.0.0.1/',
    'http://8.8.8.8/',
    'hooks.example',
    'https://',
    'https://hooks.example/a b',
    'https://hooks.example/\u0000',
    'javascript:alert(1)',
  ]
  const webhook = await made(acme)
  for (const address of refused) {
    t.same(faultOf(await create(acme, { url: address })), invalid('/url'), address)
    t.same(faultOf(await change(acme, webhook, { url: address })), invalid('/url'), `PATCH ${address}`)
  }
  for (const address of ['https://10.1.2.3/', 'http://10.1.2.3:8080/', 'https://8.8.8.8/', 'http://hooks.internal/'])
    t.equal((await change(acme, webhook, { url: address })).status, 200, `${address}: 10.0.0.0/8 is allowed here`)
})

t.test('an endpoint cannot set headers that belong to the connection, the signature or the browser', async (t) => {
  const acme = await admin.organization('headers')
  const reserved = ['Host', 'content-type', 'Content-Length', 'connection', 'Transfer-Encoding', 'TE', 'upgrade']
  for (const name of [...reserved, 'User-Agent', 'cookie', 'webhook-id', 'Webhook-Signature']) {
    t.same(faultOf(await create(acme, { headers: { [name]: 'x' } })), invalid(`/headers/${name}`))
    const secret = [{ name, value: 'x' }]
    t.same(faultOf(await create(acme, { authHeaders: secret })), invalid('/authHeaders/0/name'), name)
  }
  t.same(faultOf(await create(acme, { headers: { Authorization: 'x' } })), invalid('/headers/Authorization'))
  t.equal((await create(acme, { authHeaders: [{ name: 'Authorization', value: 'x' }] })).status, 201)
})

t.test('updateWebhook replaces whole lists and objects, and null restores the default', async (t) => {
  const acme = await admin.organization('changes')
  const settings = { filterTags: { a: '1', b: '2' }, headers: { 'x-a': '1', 'x-b': '2' }, timeoutMs: 2000 }
  const webhook = await made(acme, settings)
  const answer = await change(acme, webhook, {
    filterTags: { c: '3' },
    headers: { 'x-c': '3' },
    events: ['call.status'],
  })
  const changed = answer.json<Webhook>()
  t.match(changed, { filterTags: { c: '3' }, headers: { 'x-c': '3' }, events: ['call.status'], timeoutMs: 2000 })
  t.same(Object.keys(changed['filterTags'] as object), ['c'])
  t.ok(changed.updatedAt >= webhook.updatedAt)
  t.equal(changed['createdAt'], webhook['createdAt'])
  const unset = (await change(acme, webhook, { filterTags: null, headers: null, timeoutMs: null })).json<Webhook>()
  t.same([unset['filterTags'], unset['headers'], unset['timeoutMs']], [{}, {}, 10_000])
  const answers = (await change(acme, webhook, { events: ['call.status', 'call.pre_call'] })).json<Webhook>()
  t.equal(answers['timeoutMs'], 5_000, 'the default follows the events')
  const { updatedAt } = (await change(acme, webhook, {})).json<Webhook>()
  t.same(await read(acme, webhook), { ...answers, updatedAt })
  t.same(faultOf(await change(acme, webhook, { url: null })), invalid('/url'))
})

t.test('secrets of an endpoint are stored encrypted, survive an update, and are never returned', async (t) => {
  const acme = await admin.organization('secrets')
  const secrets = { signingSecret: 'k4n4ry-secret', authHeaders: [{ name: 'Authorization', value: 'Bearer k4n4ry' }] }
  const created = await create(acme, secrets)
  const webhook = created.json<Webhook>()
  const shown = { signingSecretSource: 'custom', hasCustomSigningSecret: true }
  t.match(webhook, { ...shown, authHeaders: [{ name: 'Authorization', configured: true }] })
  const changed = await change(acme, webhook, {
    authHeaders: [{ name: 'authorization' }, { name: 'x-b', value: 'k4n4ry' }],
  })
  t.equal(changed.status, 200, changed.text)
  const listed = await call(acme, 'GET', '/v1/webhooks')
  for (const { text } of [created, changed, listed]) t.notMatch(text, /k4n4ry/)
  const target = () => admin.store.webhookTargets.deliveryTarget({ organizationId: acme.id, test: false }, webhook.id)
  t.match(await target(), {
    authHeaders: { authorization: 'Bearer k4n4ry', 'x-b': 'k4n4ry' },
    signingSecrets: ['k4n4ry-secret'],
  })
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  const rows = await sql<{ row: string; sealed: Buffer }[]>`
    select t::text as row, sealed from webhook_endpoints t where organization_id = ${acme.id}`
  t.equal(rows.length, 1)
  t.notMatch(`${rows[0]?.row} ${rows[0]?.sealed.toString('latin1')}`, /k4n4ry/)
  const needed = async (body: object, ...paths: string[]) =>
    t.same(faultOf(await change(acme, webhook, body)), invalid(...paths), JSON.stringify(body))
  await needed({ authHeaders: [{ name: 'x-new' }] }, '/authHeaders/0/value')
  await needed({ url: 'https://thief.example/' }, '/authHeaders')
  await needed({ url: 'https://thief.example/', authHeaders: [{ name: 'x-b' }] }, '/authHeaders/0/value')
  await needed({ url: 'https://hooks.example:8443/', authHeaders: [{ name: 'x-b' }] }, '/authHeaders/0/value')
  t.equal((await change(acme, webhook, { url: 'https://hooks.example/other/path' })).status, 200, 'the same origin')
  t.equal((await change(acme, webhook, { url: 'https://new.example/', authHeaders: [] })).status, 200)
  t.same((await target())?.authHeaders, {})
})

t.test('after a change of a custom secret, the old and the new secret sign for 24 hours', async (t) => {
  const acme = await admin.organization('custom secrets')
  const webhook = await made(acme)
  const signing = async () => {
    const tenant = { organizationId: acme.id, test: false }
    return (await admin.store.webhookTargets.deliveryTarget(tenant, webhook.id))?.signingSecrets
  }
  const { secret: workspace } = await admin.store.webhookSecrets.find(acme.id)
  t.same(await signing(), [workspace])
  const after = async (body: object) => {
    const { signingSecretSource } = (await change(acme, webhook, body)).json<Webhook>()
    return [signingSecretSource, await signing()]
  }
  t.same(await after({ signingSecret: 'first secret' }), ['custom', ['first secret']])
  t.same(await after({ signingSecret: 'first secret' }), ['custom', ['first secret']], 'the same secret')
  const two = ['custom', ['second secret', 'first secret']]
  t.same(await after({ signingSecret: 'second secret', signingSecretSource: 'custom' }), two)
  t.same(await after({ name: 'Renamed' }), two)
  t.same(await after({ signingSecretSource: 'custom' }), two, 'the stored one is kept')
  t.same(await after({ signingSecret: 'third secret' }), ['custom', ['third secret', 'second secret']])
  t.same(await after({ signingSecret: null }), ['workspace', [workspace]])
  t.same(faultOf(await change(acme, webhook, { signingSecretSource: 'custom' })), invalid('/signingSecret'))
  t.same(await after({ signingSecret: 'first secret' }), ['custom', ['first secret']], 'dropped ones do not come back')
  t.same(await after({ signingSecretSource: 'workspace' }), ['workspace', [workspace]])
})

t.test('replacing the secret of the organization needs a live key with the scope admin', async (t) => {
  const acme = await admin.organization('workspace secret', { scopes: ['admin'] })
  type Secret = { secret: string; createdAt: string; previousExpiresAt: string | null }
  const get = async () => (await call(acme, 'GET', '/v1/webhook-secret')).json<Secret>()
  const rotate = (body?: object) => call(acme, 'POST', '/v1/webhook-secret/rotate', body)
  const first = await get()
  t.match(first.secret, /^whsec_/)
  t.equal(Buffer.from(first.secret.slice(6), 'base64').length, 32)
  t.equal(first.previousExpiresAt, null)
  t.same(await get(), first)
  const overlapOf = ({ createdAt, previousExpiresAt }: Secret) =>
    Date.parse(previousExpiresAt ?? '') - Date.parse(createdAt)
  const second = (await rotate()).json<Secret>()
  t.not(second.secret, first.secret)
  t.equal(overlapOf(second), 86_400_000)
  t.same(await get(), second)
  t.equal(overlapOf((await rotate({})).json()), 86_400_000)
  t.equal(overlapOf((await rotate({ overlapSeconds: 604_800 })).json()), 604_800_000)
  t.equal((await rotate({ overlapSeconds: 0 })).json<Secret>().previousExpiresAt, null)
  for (const overlapSeconds of [-1, 604_801, 0.5, null])
    t.same(faultOf(await rotate({ overlapSeconds })), invalid('/overlapSeconds'))
  const forbidden = { status: 403, code: 'FORBIDDEN' }
  const platform = await admin.key(acme.id, { scopes: ['platform'] })
  const test = await admin.key(acme.id, { scopes: ['admin', 'platform'], test: true })
  for (const target of [platform, test]) {
    t.same(faultOf(await call(target, 'GET', '/v1/webhook-secret')), forbidden)
    t.same(faultOf(await call(target, 'POST', '/v1/webhook-secret/rotate')), forbidden)
  }
  t.same(faultOf(await call(acme, 'GET', '/v1/webhooks')), forbidden, 'endpoints need the scope platform')
})

t.test('a disabled endpoint shows when and why it was disabled, until it is enabled again', async (t) => {
  const acme = await admin.organization('disabled')
  const webhook = await made(acme)
  const off = (await change(acme, webhook, { disabled: true })).json<Webhook>()
  t.match(off, { disabled: true, disabledReason: 'manual' })
  t.equal(off['disabledAt'], off.updatedAt)
  const again = (await change(acme, webhook, { disabled: true })).json<Webhook>()
  t.equal(again['disabledAt'], off['disabledAt'], 'the time of the first disabling stays')
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  await sql`update webhook_endpoints set failing_since = now(), disabled_reason = 'failing' where id = ${webhook.id}`
  t.match(await read(acme, webhook), { disabled: true, disabledReason: 'failing' })
  const on = (await change(acme, webhook, { disabled: false })).json<Webhook>()
  t.match(on, { disabled: false, disabledAt: null, disabledReason: null })
  const [row] = await sql`select failing_since from webhook_endpoints where id = ${webhook.id}`
  t.same(row, { failing_since: null }, 'earlier failures are forgotten')
})
