/**
 * The deprecated webhook fields of agents: each field makes an endpoint, and only a change of the agent changes this
 * endpoint.
 */
import t from 'tap'
import type { Target } from '../router/requests.ts'
import { defaults } from '../store/cluster.ts'
import { call, faultOf, startAdministered } from './setup.ts'
import { create, invalid, read, type Webhook } from './webhooks.ts'

/** The server and the test's store share this key, so the store can open sealed secrets. */
const PARLEY_MASTER_KEY = defaults.masterKeys().current
const { admin } = await startAdministered(t, { PARLEY_MASTER_KEY })

type Field = { endpointId: string } & Record<string, unknown>
type Agent = { id: string; webhooks: Record<string, Field | null> | null }

const url = 'https://hooks.example/agent'
const settings = { systemPrompt: 'Be brief.', intent: { language: 'en' } }
const save = (target: Target, name: string, webhooks?: unknown) =>
  call(target, 'POST', '/v1/agents', { name, ...settings, webhooks })
const change = (target: Target, { id }: Agent, body: object) => call(target, 'PATCH', `/v1/agents/${id}`, body)
const list = async (target: Target) =>
  (await call(target, 'GET', '/v1/webhooks')).json<{ data: (Webhook & { name: string })[] }>().data

async function made(target: Target, name: string, webhooks?: unknown): Promise<Agent> {
  const answer = await save(target, name, webhooks)
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.json<Agent>()
}

t.test('each webhook field of an agent creates an endpoint for one event of this agent', async (t) => {
  const acme = await admin.organization('fields')
  t.equal((await made(acme, 'without')).webhooks, null)
  const fields = {
    preCall: {
      url,
      secret: 'k4n4ry-secret',
      headers: { 'x-a': '1' },
      authHeaders: [{ name: 'X-Key', value: 'k4n4ry' }],
    },
    postCall: { url, timeoutMs: 2000, extractionFields: [{ name: 'a', type: 'string', description: 'd' }] },
    status: { url },
    analysis: { url },
    recording: { url },
  }
  const answer = await save(acme, 'Desk', fields)
  t.equal(answer.status, 201, answer.text)
  t.notMatch(answer.text, /k4n4ry/)
  const agent = answer.json<Agent>()
  const shown = { url, hasSecret: false, headers: {}, authHeaders: [], timeoutMs: 10_000 }
  const ids = Object.fromEntries(
    Object.entries(agent.webhooks ?? {}).map(([field, value]) => [field, value?.endpointId]),
  )
  t.same(agent.webhooks, {
    preCall: {
      ...shown,
      endpointId: ids['preCall'],
      hasSecret: true,
      headers: { 'x-a': '1' },
      authHeaders: [{ name: 'X-Key', configured: true }],
      timeoutMs: 5_000,
    },
    postCall: { ...shown, ...fields.postCall, endpointId: ids['postCall'] },
    status: { ...shown, endpointId: ids['status'] },
    analysis: { ...shown, endpointId: ids['analysis'] },
    recording: { ...shown, endpointId: ids['recording'] },
  })
  t.same((await call(acme, 'GET', `/v1/agents/${agent.id}`)).json(), agent)
  t.same((await call(acme, 'GET', '/v1/agents')).json<Agent[]>()[0], agent)
  const endpoints = await list(acme)
  const events = { preCall: 'call.pre_call', postCall: 'call.report', status: 'call.status' }
  const all = { ...events, analysis: 'call.analysis', recording: 'call.recording' }
  t.same(
    Object.fromEntries(endpoints.map(({ name, id, events }) => [name, [id, ...(events as string[])]])),
    Object.fromEntries(Object.entries(all).map(([field, event]) => [`Desk: ${field}`, [ids[field], event]])),
  )
  for (const endpoint of endpoints)
    t.match(endpoint, { legacyManaged: true, allAgents: false, agentIds: [agent.id], filterTags: {}, disabled: false })
  const target = await admin.store.webhookTargets.deliveryTarget(
    { organizationId: acme.id, test: false },
    ids['preCall'] ?? '',
  )
  t.match(target, { authHeaders: { 'X-Key': 'k4n4ry' }, signingSecrets: ['k4n4ry-secret'] })
})

t.test("an update replaces an agent's whole webhook field, but keeps secrets that it omits", async (t) => {
  const acme = await admin.organization('changes of fields')
  const secrets = { secret: 'first secret', authHeaders: [{ name: 'x-key', value: 'v' }] }
  const agent = await made(acme, 'Desk', { postCall: { url, ...secrets, headers: { 'x-a': '1' } }, status: { url } })
  const { postCall } = agent.webhooks ?? {}
  const target = () => {
    const tenant = { organizationId: acme.id, test: false }
    return admin.store.webhookTargets.deliveryTarget(tenant, postCall?.endpointId ?? '')
  }
  const changed = await change(acme, agent, { webhooks: { postCall: { url, authHeaders: [{ name: 'X-Key' }] } } })
  t.same(changed.json<Agent>().webhooks, {
    preCall: null,
    postCall: { ...postCall, headers: {}, authHeaders: [{ name: 'X-Key', configured: true }] },
    status: null,
    analysis: null,
    recording: null,
  })
  t.match(await target(), { authHeaders: { 'X-Key': 'v' }, signingSecrets: ['first secret'] })
  t.same(
    (await list(acme)).map(({ name }) => name),
    ['Desk: postCall'],
  )
  t.equal((await change(acme, agent, { voice: 'auto' })).json<Agent>().webhooks?.['postCall']?.['hasSecret'], true)
  await change(acme, agent, { name: 'Front' })
  t.same(
    (await list(acme)).map(({ name }) => name),
    ['Front: postCall'],
    'the name follows',
  )
  const moved = { url: 'https://thief.example/', authHeaders: [{ name: 'x-key' }] }
  const place = '/webhooks/postCall/authHeaders/0/value'
  t.same(faultOf(await change(acme, agent, { webhooks: { postCall: moved } })), invalid(place))
  t.match(await target(), { url }, 'a refused change changes nothing')
  await change(acme, agent, { webhooks: { postCall: { url, secret: 'second secret' } } })
  t.same((await target())?.signingSecrets, ['second secret', 'first secret'])
  await change(acme, agent, { webhooks: { postCall: { url, secret: null } } })
  t.same((await target())?.signingSecrets, [(await admin.store.webhookSecrets.find(acme.id)).secret])
  t.equal((await change(acme, agent, { webhooks: { postCall: null } })).json<Agent>().webhooks, null)
  t.same(await list(acme), [])
  await change(acme, agent, { webhooks: { status: { url } } })
  t.equal((await change(acme, agent, { webhooks: null })).json<Agent>().webhooks, null)
  t.same(await list(acme), [])
})

t.test("an endpoint of an agent's webhook field can be read, but is changed only through the agent", async (t) => {
  const acme = await admin.organization('managed')
  const agent = await made(acme, 'Desk', { status: { url } })
  const id = agent.webhooks?.['status']?.endpointId ?? ''
  const managed = { status: 409, code: 'WEBHOOK_LEGACY_MANAGED' }
  for (const body of [{}, { disabled: true }, { name: 'Mine' }])
    t.same(faultOf(await call(acme, 'PATCH', `/v1/webhooks/${id}`, body)), managed)
  t.same(faultOf(await call(acme, 'DELETE', `/v1/webhooks/${id}`)), managed)
  t.match(await read(acme, { id }), { legacyManaged: true, name: 'Desk: status' })
  const answers = await Promise.all(Array.from({ length: 51 }, () => create(acme)))
  t.equal(answers.filter(({ status }) => status === 201).length, 50, 'fields do not count among the 50 endpoints')
  t.equal((await call(acme, 'DELETE', `/v1/agents/${agent.id}`)).status, 200)
  t.equal((await call(acme, 'GET', `/v1/webhooks/${id}`)).status, 404)
})

t.test("an agent's preCall field that conflicts with an endpoint is refused with PRE_CALL_CONFLICT", async (t) => {
  const acme = await admin.organization('conflicts of fields')
  const preCall = { preCall: { url } }
  const asked = { events: ['call.pre_call'], filterTags: { a: '1' } }
  const all = (await create(acme, asked)).json<Webhook>()
  const refused = await save(acme, 'Desk', preCall)
  t.same(faultOf(refused), { status: 409, code: 'PRE_CALL_CONFLICT' })
  t.same(refused.json<{ details: object }>().details, { endpointId: all.id })
  t.same((await call(acme, 'GET', '/v1/agents')).json(), [], 'the agent is not made without its field')
  const agent = await made(acme, 'Desk', { status: { url } })
  const change_ = await change(acme, agent, { name: 'Renamed', webhooks: preCall })
  t.same(faultOf(change_), { status: 409, code: 'PRE_CALL_CONFLICT' })
  t.match((await call(acme, 'GET', `/v1/agents/${agent.id}`)).json(), { name: 'Desk', webhooks: { preCall: null } })
  await call(acme, 'DELETE', `/v1/webhooks/${all.id}`)
  for (let round = 0; round < 8; round++) {
    const [field, endpoint] = await Promise.all([change(acme, agent, { webhooks: preCall }), create(acme, asked)])
    t.same([field.status, endpoint.status].sort().at(-1), 409, `${field.text} ${endpoint.text}`)
    t.equal([field.status, endpoint.status].filter((status) => status < 300).length, 1)
    await change(acme, agent, { webhooks: null })
    for (const { id } of await list(acme)) await call(acme, 'DELETE', `/v1/webhooks/${id}`)
  }
  t.equal((await change(acme, agent, { webhooks: preCall })).status, 200)
  t.equal((await change(acme, agent, { webhooks: preCall })).status, 200, 'a field does not conflict with itself')
  t.equal((await save(acme, 'Other', preCall)).status, 201, 'a field of another agent does not conflict either')
})

t.test("each setting of an agent's webhook fields is validated", async (t) => {
  const acme = await admin.organization('bounds of fields')
  const agent = await made(acme, 'Desk')
  const field = (more: object, name = 'postCall') => ({ webhooks: { [name]: { url, ...more } } })
  const extractionFields = [{ name: 'a', type: 'string', description: 'd' }]
  const refused: [object, ...string[]][] = [
    [field({ url: 'https://127.0.0.1/' }), '/webhooks/postCall/url'],
    [field({ url: 'http://hooks.example/' }), '/webhooks/postCall/url'],
    [field({ headers: { cookie: 'x' } }), '/webhooks/postCall/headers/cookie'],
    [field({ authHeaders: [{ name: 'x-a' }] }), '/webhooks/postCall/authHeaders/0/value'],
    [field({ timeoutMs: 999 }), '/webhooks/postCall/timeoutMs'],
    [field({ timeoutMs: 30_001 }), '/webhooks/postCall/timeoutMs'],
    [field({ secret: '7 bytes' }), '/webhooks/postCall/secret'],
    [field({ responseMode: 'async' }), '/webhooks/postCall/responseMode'],
    [field({ asyncAck: 'x' }), '/webhooks/postCall/asyncAck'],
    [field({ extractionFields }, 'analysis'), '/webhooks/analysis/extractionFields'],
    [
      field({ extractionFields: [...extractionFields, ...extractionFields] }),
      '/webhooks/postCall/extractionFields/1/name',
    ],
    [{ webhooks: { other: { url } } }, '/webhooks/other'],
    [{ webhooks: { status: {} } }, '/webhooks/status/url'],
  ]
  for (const [body, ...paths] of refused) {
    t.same(faultOf(await change(acme, agent, body)), invalid(...paths), JSON.stringify(body).slice(0, 90))
    t.same(faultOf(await call(acme, 'POST', '/v1/agents', { name: 'New', ...settings, ...body })), invalid(...paths))
  }
  t.same(await list(acme), [])
})
