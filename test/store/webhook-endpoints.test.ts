/** Rows for webhook endpoints and webhook secrets: matching, the data for an attempt, and sealing. */
import t from 'tap'
import { SealError } from '../../domain/access/seal-error.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Endpoint, EndpointSecrets, WebhookEventType } from '../../domain/records/webhook-endpoint.ts'
import { systemIds } from '../../runtime/timing/clock.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { transactionEach } from '../../store/postgres/tenant.ts'
import { matchingEndpoints } from '../../store/webhooks/webhook-endpoints.ts'
import { storeClock } from '../time/store-clock.ts'
import { organization, TestCluster } from './cluster.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const nowMs = 1_700_000_000_000
const secrets: EndpointSecrets = {
  authHeaders: { authorization: 'Bearer k4n4ry' },
  signing: { secret: 'k4n4ry secret', previous: null },
}

function endpointOf(tenant: Tenant, more: Partial<Endpoint> = {}): Endpoint {
  return {
    id: systemIds.endpoint(),
    ...tenant,
    name: 'Endpoint',
    url: 'https://a.example/',
    events: ['call.report'],
    allAgents: true,
    agentIds: [],
    filterTags: {},
    headers: { 'x-shop': 'one' },
    authHeaders: ['Authorization'],
    timeoutMs: null,
    signingSecretSource: 'custom',
    extractionFields: [],
    legacy: null,
    disabledAtMs: null,
    disabledReason: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    ...more,
  }
}

const masterKeys = (current: string, ...previous: string[]) => ({
  masterKeys: () => ({ current: current.repeat(32), previous: previous.map((letter) => letter.repeat(32)) }),
})

/** Connects with the server's database role, so row level security applies. */
function connection(t: Tap, url: string) {
  const host = new URL(url).searchParams.get('host') ?? ''
  const sql = connectOnce({ socketDir: host, role: 'parley', database: new URL(url).pathname.slice(1) }, 'endpoints')
  t.teardown(() => sql.end({ timeout: 1 }))
  return sql
}
type Tap = { teardown(run: () => unknown): void }

t.test('matchingEndpoints selects by event, state, agent, tags, organization, and live or test', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const [a, b] = [await organization(store, 'a'), await organization(store, 'b')]
  const live = { organizationId: a.id, test: false }
  const settings = { name: 'Agent', systemPrompt: 'Be brief.', intent: { language: 'en' } }
  const agentId = systemIds.agent()
  const times = { createdAtMs: nowMs, updatedAtMs: nowMs }
  await store.agents.insert({ id: agentId, ...live, settings, ...times }, [], 10, { type: 'api_key', id: 'key_1' })
  const oddTags = Object.fromEntries([
    ['', 'x\0'],
    ['__proto__', 'y'],
    ['toString', 'z'],
  ])
  const ids: Record<string, string> = {}
  const add = async (title: string, more: Partial<Endpoint>, tenant: Tenant = live) => {
    const endpoint = endpointOf(tenant, more)
    ids[endpoint.id] = title
    t.equal((await store.webhookEndpoints.insert({ endpoint, secrets }, 50)).state, 'written', title)
  }
  await add('all', {})
  await add('other event', { events: ['call.status', 'call.analysis'] })
  await add('of the agent', { allAgents: false, agentIds: [agentId] })
  await add('disabled', { disabledAtMs: nowMs, disabledReason: 'manual' })
  await add('tagged', { filterTags: oddTags })
  await add('two tags', { filterTags: { team: 'shop', floor: '2' } })
  await add('other world', {}, { organizationId: a.id, test: true })
  await add('other organization', {}, { organizationId: b.id, test: false })
  const worlds = transactionEach(connection(t, url))
  const matching = async (type: WebhookEventType, agent: string | null, tags: Record<string, string>, of = live) => {
    const found = await worlds.asTenant(of, (tx) =>
      matchingEndpoints(tx, of, [type], { agentId: agent, webhookTags: tags }),
    )
    return found.map(({ id }) => ids[id])
  }
  t.same(await matching('call.report', null, {}), ['all'])
  t.same(await matching('call.report', agentId, {}), ['all', 'of the agent'])
  t.same(await matching('call.report', systemIds.agent(), {}), ['all'])
  t.same(await matching('call.status', null, {}), ['other event'])
  t.same(await matching('call.recording', agentId, {}), [])
  t.same(await matching('call.report', null, { team: 'shop' }), ['all'])
  t.same(await matching('call.report', null, oddTags), ['all', 'tagged'])
  t.same(await matching('call.report', null, { '': 'x\0' }), ['all'])
  t.same(await matching('call.report', null, { team: 'shop', floor: '2' }), ['all', 'two tags'])
  t.same(await matching('call.report', null, { team: 'Shop', floor: '2' }), ['all'], 'upper and lower case differ')
  t.same(await matching('call.report', null, {}, { organizationId: a.id, test: true }), ['other world'])
  t.same(await matching('call.report', null, {}, { organizationId: b.id, test: false }), ['other organization'])
})

t.test('deliveryTarget returns the headers, the time-outs and the secrets that sign at this time', async (t) => {
  const url = await cluster.database()
  const clock = storeClock()
  const store = await cluster.store(t, url, { clock })
  const { id: organizationId } = await organization(store, 'a')
  const tenant = { organizationId, test: true }
  const untilMs = clock.nowMs() + 1000
  const custom = endpointOf(tenant)
  const rotated = { ...secrets, signing: { secret: 'new', previous: { secret: 'old', untilMs } } }
  await store.webhookEndpoints.insert({ endpoint: custom, secrets: rotated }, 50)
  const plain = endpointOf(tenant, { authHeaders: [], signingSecretSource: 'workspace', events: ['call.pre_call'] })
  await store.webhookEndpoints.insert({ endpoint: plain, secrets: { authHeaders: {}, signing: null } }, 50)
  const targets = await Promise.all([
    store.webhookTargets.deliveryTarget(tenant, custom.id),
    store.webhookTargets.deliveryTarget(tenant, plain.id),
    store.webhookTargets.deliveryTarget({ organizationId, test: false }, plain.id),
    store.webhookTargets.deliveryTarget(tenant, systemIds.endpoint()),
  ])
  const { secret } = await store.webhookSecrets.find(organizationId)
  const same = { url: custom.url, headers: { 'x-shop': 'one' }, isDisabled: false }
  t.same(targets, [
    { ...same, authHeaders: { Authorization: 'Bearer k4n4ry' }, timeoutMs: 10_000, signingSecrets: ['new', 'old'] },
    { ...same, authHeaders: {}, timeoutMs: 5_000, signingSecrets: [secret] },
    null,
    null,
  ])
  clock.setMs += 1000
  t.same((await store.webhookTargets.deliveryTarget(tenant, custom.id))?.signingSecrets, ['new'], 'the overlap is over')
})

t.test("an organization's webhook secret is created once, and may be replaced", async (t) => {
  const clock = storeClock()
  const store = await cluster.store(t, await cluster.database(), { clock })
  const { id } = await organization(store, 'a')
  const made = await Promise.all(Array.from({ length: 5 }, () => store.webhookSecrets.find(id)))
  t.equal(new Set(made.map(({ secret }) => secret)).size, 1, 'five at once find the same one')
  const first = made[0]!.secret
  t.match(first, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.same(await store.webhookSecrets.signingSecrets(id), [first])
  const second = await store.webhookSecrets.rotate(id, 60_000)
  t.equal(second.previousUntilMs, second.createdAtMs + 60_000)
  t.same(await store.webhookSecrets.signingSecrets(id), [second.secret, first])
  const third = await store.webhookSecrets.rotate(id, 60_000)
  t.same(await store.webhookSecrets.signingSecrets(id), [third.secret, second.secret], 'the oldest is dropped')
  clock.setMs += 60_000
  t.same(await store.webhookSecrets.signingSecrets(id), [third.secret])
  t.equal((await store.webhookSecrets.find(id)).previousUntilMs, null)
  const fourth = await store.webhookSecrets.rotate(id, 0)
  t.same(await store.webhookSecrets.signingSecrets(id), [fourth.secret], 'no overlap')
  const rotations = await Promise.all([
    store.webhookSecrets.rotate(id, 60_000),
    store.webhookSecrets.rotate(id, 60_000),
  ])
  const after = await store.webhookSecrets.signingSecrets(id)
  t.same([...after].sort(), rotations.map(({ secret }) => secret).sort(), 'two at once follow one another')
})

t.test('while the database is unreachable, deliveries are signed with the last known secret', async (t) => {
  const store = await cluster.store(t, await cluster.database())
  const { id } = await organization(store, 'a')
  const known = await store.webhookSecrets.signingSecrets(id)
  await store.close({ stopPostgres: false })
  t.same(await store.webhookSecrets.signingSecrets(id), known)
  await t.rejects(store.webhookSecrets.signingSecrets('org_other'), { name: 'Fault', kind: 'store_unreachable' })
})

t.test('sealed secrets can be opened only for their endpoint, and sealed with a new master key', async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url, { ...masterKeys('a'), serves: false })
  const { id: organizationId } = await organization(store, 'a')
  const tenant = { organizationId, test: false }
  const [one, two] = [endpointOf(tenant), endpointOf(tenant)]
  for (const endpoint of [one, two]) await store.webhookEndpoints.insert({ endpoint, secrets }, 50)
  const { secret } = await store.webhookSecrets.find(organizationId)
  const sql = cluster.sql(t, url)
  const [sealed] = await sql<{ text: string }[]>`
    select string_agg(row_to_json(e)::text, '') || (select string_agg(row_to_json(s)::text, '') from webhook_secrets s) as text
    from webhook_endpoints e`
  t.notMatch(sealed?.text, /k4n4ry/)
  t.notOk(sealed?.text.includes(secret))
  await sql`update webhook_endpoints t set sealed = o.sealed, sealed_by = o.sealed_by, secrets_id = o.secrets_id
    from webhook_endpoints o where t.id = ${two.id} and o.id = ${one.id}`
  const both = await Promise.allSettled([one, two].map(({ id }) => store.webhookTargets.deliveryTarget(tenant, id)))
  t.same(
    both.map(({ status }) => status),
    ['fulfilled', 'rejected'],
    'one that does not open does not fail the others',
  )
  t.ok(both[1]?.status === 'rejected' && both[1].reason instanceof SealError)

  const moving = await cluster.store(t, url, { ...masterKeys('b', 'a'), serves: false })
  t.equal(await moving.sealedSecrets.unreadable(), 0)
  t.same(await moving.sealedSecrets.reseal(), { resealed: 2, failed: 1 })
  const after = await cluster.store(t, url, { ...masterKeys('b'), serves: false })
  t.equal(await after.sealedSecrets.unreadable(), 1)
  const target = await after.webhookTargets.deliveryTarget(tenant, one.id)
  t.same(target?.authHeaders, { Authorization: 'Bearer k4n4ry' })
  t.equal((await after.webhookSecrets.find(organizationId)).secret, secret)
})

t.test("row level security limits an unfiltered query to an organization's live or test rows", async (t) => {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const [a, b] = [await organization(store, 'a'), await organization(store, 'b')]
  for (const { id: organizationId } of [a, b]) {
    await store.webhookSecrets.find(organizationId)
    for (const test of [true, false])
      await store.webhookEndpoints.insert({ endpoint: endpointOf({ organizationId, test }), secrets }, 50)
  }
  const sql = connection(t, url)
  const seen = (id: string, world: string) =>
    sql.begin(async (tx) => {
      await tx`select set_config('app.organization', ${id}, true), set_config('app.world', ${world}, true)`
      const rows = await tx<{ owner: string; kind: string }[]>`
        select organization_id as owner, case when test then 'test' else 'live' end as kind from webhook_endpoints
        union all select organization_id, 'secret' from webhook_secrets`
      return rows.map(({ owner, kind }) => `${owner === a.id ? 'a' : 'b'} ${kind}`).sort()
    })
  t.same(await seen(a.id, 'live'), ['a live', 'a secret'])
  t.same(await seen(b.id, 'test'), ['b secret', 'b test'])
  t.same(await seen(a.id, ''), ['a secret'])
  t.same(await seen('', 'live'), [])
  t.equal((await seen('*', '*')).length, 6)
})
