/** Tests which calls' events an endpoint gets, conflicts between pre-call endpoints, and the limit for endpoints. */
import t from 'tap'
import { openDatabase } from '../process/database.ts'
import type { Answer } from '../router/requests.ts'
import { recordDelivery } from '../webhooks/recorded.ts'
import { call, faultOf, startAdministered } from './setup.ts'
import { agentOf, change, create, invalid, made, read, url, type Webhook } from './webhooks.ts'

const { parley, admin } = await startAdministered(t)

t.test('an endpoint is limited to a list of existing agents, or serves all agents', async (t) => {
  const acme = await admin.organization('scopes')
  const test = await admin.key(acme.id, { test: true })
  const [one, two] = [await agentOf(acme, 'one'), await agentOf(acme, 'two')]
  const webhook = await made(acme, { agentIds: [one] })
  t.match(webhook, { allAgents: false, agentIds: [one] })
  const scope = async (body: object) => {
    const { allAgents, agentIds } = (await change(acme, webhook, body)).json<Webhook>()
    return [allAgents, agentIds]
  }
  t.same(await scope({ agentIds: [two, one] }), [false, [two, one]])
  t.same(
    faultOf(await change(acme, webhook, { agentIds: [] })),
    invalid('/agentIds'),
    'it does not become all by itself',
  )
  t.same(await scope({ allAgents: true }), [true, []])
  t.same(faultOf(await change(acme, webhook, { allAgents: false })), invalid('/agentIds'))
  t.same(await scope({ agentIds: [one] }), [false, [one]])
  const missing = { status: 404, code: 'NOT_FOUND' }
  const nobody = 'agent_0123456789012345678901'
  for (const id of [nobody, 'x', 'a\0', await agentOf(test), await agentOf(await admin.organization('other'))]) {
    const refused = await change(acme, webhook, { agentIds: [one, id] })
    t.same(faultOf(refused), missing, JSON.stringify(id))
    t.match(refused.json<{ error: string }>().error, /^\/agentIds\/1 /)
    t.same(faultOf(await create(acme, { agentIds: [id] })), missing)
  }
  t.same((await read(acme, webhook)).agentIds, [one])
})

t.test('a deleted agent is removed from endpoints, and an endpoint without agents is disabled', async (t) => {
  const acme = await admin.organization('deleted agents')
  const [one, two] = [await agentOf(acme, 'one'), await agentOf(acme, 'two')]
  const both = await made(acme, { agentIds: [one, two] })
  const paused = await made(acme, { agentIds: [one] })
  await change(acme, paused, { disabled: true })
  const single = await made(acme, { agentIds: [one] })
  const all = await made(acme)
  t.equal((await call(acme, 'DELETE', `/v1/agents/${one}`)).status, 200)
  t.match(await read(acme, both), { agentIds: [two], allAgents: false, disabled: false })
  t.match(await read(acme, single), {
    agentIds: [],
    allAgents: false,
    disabled: true,
    disabledReason: 'agents_deleted',
  })
  t.match(await read(acme, paused), { agentIds: [], disabled: true, disabledReason: 'manual' })
  t.same(await read(acme, all), all)
  t.equal((await change(acme, single, { name: 'Renamed' })).status, 200, 'it can be changed while it is disabled')
  t.same(faultOf(await change(acme, single, { disabled: false })), invalid('/agentIds'))
  t.match((await change(acme, single, { disabled: false, agentIds: [two] })).json(), {
    disabled: false,
    disabledAt: null,
    disabledReason: null,
  })
})

t.test('an endpoint that is saved while its agent is deleted does not keep the agent', async (t) => {
  const acme = await admin.organization('agents at once')
  for (let round = 0; round < 8; round++) {
    const [doomed, other] = [await agentOf(acme, `doomed ${round}`), await agentOf(acme, `other ${round}`)]
    const known = await made(acme, { agentIds: [doomed] })
    const [answer, changed] = await Promise.all([
      create(acme, { agentIds: [doomed] }),
      change(acme, known, { agentIds: [doomed, other] }),
      call(acme, 'DELETE', `/v1/agents/${doomed}`),
    ])
    t.ok([201, 404].includes(answer.status), answer.text)
    t.ok([200, 404].includes(changed.status), changed.text)
    const { data } = (await call(acme, 'GET', '/v1/webhooks')).json<{ data: Webhook[] }>()
    t.notOk(
      data.some(({ agentIds }) => agentIds.includes(doomed)),
      'no list has an agent that is gone',
    )
    for (const { id } of data) await call(acme, 'DELETE', `/v1/webhooks/${id}`)
  }
})

t.test('PRE_CALL_CONFLICT: two pre-call endpoints may not match the same call by agent and tags', async (t) => {
  const acme = await admin.organization('conflicts')
  const [one, two] = [await agentOf(acme, 'one'), await agentOf(acme, 'two')]
  const asked = { events: ['call.pre_call', 'call.report'] }
  const conflict = (answer: Answer, { id }: Webhook) => {
    t.same(faultOf(answer), { status: 409, code: 'PRE_CALL_CONFLICT' }, answer.text)
    t.same(answer.json<{ details: object }>().details, { endpointId: id })
  }
  const a = await made(acme, { ...asked, agentIds: [one], filterTags: { a: '1' } })
  for (const more of [
    { agentIds: [one] },
    { agentIds: [one], filterTags: { a: '1' } },
    { agentIds: [two, one], filterTags: { b: '2' } },
    { filterTags: { a: '1', b: '2' } },
    {},
  ])
    conflict(await create(acme, { ...asked, ...more }), a)
  const free = [
    await made(acme, { ...asked, agentIds: [one], filterTags: { a: '2' } }),
    await made(acme, { ...asked, agentIds: [two] }),
    await made(acme, { filterTags: { a: '1' } }),
  ]
  const all = await made(acme, { ...asked, filterTags: { a: '3' }, events: ['call.status'] })
  conflict(await change(acme, all, asked), free[1] as Webhook)
  await change(acme, free[1] as Webhook, { disabled: true })
  t.equal((await change(acme, all, asked)).status, 200, 'a disabled endpoint matches nothing')
  conflict(await change(acme, free[1] as Webhook, { disabled: false }), all)
  t.equal((await change(acme, all, { timeoutMs: 2000 })).status, 200, 'an endpoint does not conflict with itself')
  conflict(await change(acme, free[0] as Webhook, { filterTags: { a: '3' } }), all)
  t.match(await read(acme, free[0] as Webhook), { filterTags: { a: '2' } }, 'a refused change changes nothing')
  t.equal((await create(await admin.key(acme.id, { test: true }), asked)).status, 201, 'the other world')
})

t.test('if two conflicting pre-call endpoints are saved at once, only one is accepted', async (t) => {
  const acme = await admin.organization('at once')
  const asked = { events: ['call.pre_call'] }
  for (let round = 0; round < 10; round++) {
    const parked = await made(acme)
    const answers = await Promise.all([
      ...Array.from({ length: 3 }, () => create(acme, asked)),
      change(acme, parked, asked),
    ])
    const statuses = answers.map(({ status }) => status).sort()
    t.same(statuses.slice(1), [409, 409, 409], statuses.join(' '))
    const { data } = (await call(acme, 'GET', '/v1/webhooks')).json<{ data: { id: string; events: string[] }[] }>()
    t.equal(data.filter(({ events }) => events[0] === 'call.pre_call').length, 1)
    for (const { id } of data) await call(acme, 'DELETE', `/v1/webhooks/${id}`)
  }
})

t.test('an organization has at most 50 live and 50 test endpoints, also when many are created at once', async (t) => {
  const acme = await admin.organization('limits')
  const answers = await Promise.all(Array.from({ length: 54 }, () => create(acme)))
  t.equal(answers.filter(({ status }) => status === 201).length, 50)
  const refused = answers.filter(({ status }) => status !== 201)
  for (const answer of refused) t.same(faultOf(answer), { status: 409, code: 'LIMIT_REACHED' })
  t.equal((await create(await admin.key(acme.id, { test: true }))).status, 201)
})

t.test('waiting deliveries are cancelled if their endpoint is disabled, deleted or left without agents', async (t) => {
  const acme = await admin.organization('cancelled')
  const tenant = { organizationId: acme.id, test: false }
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  const agent = await agentOf(acme)
  const field = { webhooks: { status: { url } } }
  const owner = (
    await call(acme, 'POST', '/v1/agents', { name: 'Owner', systemPrompt: 'x', intent: { language: 'en' }, ...field })
  ).json<{
    id: string
    webhooks: { status: { endpointId: string } }
  }>()
  const endpoints = {
    left: await made(acme),
    disabled: await made(acme),
    deleted: await made(acme),
    agentless: await made(acme, { agentIds: [agent] }),
    field: { id: owner.webhooks.status.endpointId },
  }
  const deliveries: Record<string, string> = {}
  for (const [name, { id }] of Object.entries(endpoints))
    deliveries[name] = await recordDelivery(admin.store, tenant, id)
  // The next attempt is due so late that no process starts it during the test.
  await sql`update webhook_deliveries set status = 'pending', due_at = now() + interval '1 hour',
    expires_at = now() + interval '2 hours' where organization_id = ${acme.id}`
  await change(acme, endpoints.disabled, { disabled: true })
  await call(acme, 'DELETE', `/v1/webhooks/${endpoints.deleted.id}`)
  await call(acme, 'DELETE', `/v1/agents/${agent}`)
  await call(acme, 'DELETE', `/v1/agents/${owner.id}`)
  const stateOf = async (name: string) => {
    const path = `/v1/webhook-deliveries/${deliveries[name] ?? ''}`
    const { status, error } = (await call(acme, 'GET', path)).json<{ status: string; error: string | null }>()
    return [status, error]
  }
  t.same(await stateOf('left'), ['pending', null])
  t.same(await stateOf('disabled'), ['cancelled', 'disabled'])
  t.same(await stateOf('deleted'), ['cancelled', 'deleted'])
  t.same(await stateOf('agentless'), ['cancelled', 'disabled'])
  t.same(await stateOf('field'), ['cancelled', 'deleted'])
})
