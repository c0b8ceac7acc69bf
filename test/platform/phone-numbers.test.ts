/** Phone numbers: their rows, their settings, and their agents. */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { insertNumber } from '../phone/stored-number.ts'
import { openDatabase } from '../process/database.ts'
import { send, type Target } from '../router/requests.ts'
import { call, faultOf, startOwnAdministered } from './setup.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Row = Record<string, unknown> & { id: string; setupStatus: Record<string, unknown> }

const answering = { intent: { language: 'en' }, systemPrompt: 'You take messages.' }
const path = (id: string) => `/v1/phone-numbers/${id}`
const patch = (target: Target, id: string, body: object) => call(target, 'PATCH', path(id), body)
let made = 0
const nextNumber = () => `+1212555${String(1000 + made++)}`

/** Makes an organization with a number that places calls. */
async function withNumber(name: string) {
  const acme = await admin.organization(name)
  const tenant = { organizationId: acme.id, test: false }
  const id = await insertNumber(sql, tenant, { e164: nextNumber() })
  const agent = async () => {
    const body = { name: `Agent ${made++}`, systemPrompt: 'Be brief.', intent: { language: 'en' } }
    return (await call(acme, 'POST', '/v1/agents', body)).json<{ id: string }>().id
  }
  return { ...acme, acme, tenant, number: id, agent }
}

t.test('listPhoneNumbers lists the oldest number first', async (t) => {
  const { acme, tenant, number } = await withNumber('lists')
  const second = await insertNumber(sql, tenant, { e164: nextNumber() })
  await sql`update phone_numbers set created_at = now() - interval '1 day' where id = ${second}`
  const rows = (await call(acme, 'GET', '/v1/phone-numbers')).json<Row[]>()
  t.same(
    rows.map(({ id }) => id),
    [second, number],
  )
  t.same((await call(acme, 'GET', path(number))).json(), rows[1])
})

t.test('setupStatus shows whether a number is ready for the calls that its direction allows', async (t) => {
  const { acme, number, agent } = await withNumber('setup')
  const setup = async (body: object) => {
    const changed = await patch(acme, number, body)
    t.equal(changed.status, 200, changed.text)
    return changed.json<Row>().setupStatus
  }
  const outbound = { status: 'ready', inboundReady: false, outboundReady: true, agentReady: false }
  t.match(await setup({ label: 'x' }), { ...outbound, sipConnectionReady: true, forwardingRequired: false, issues: [] })
  const both = { status: 'ready', inboundReady: true, outboundReady: true, agentReady: true }
  t.match(await setup({ direction: 'both', agentId: await agent() }), both)
  t.match(await setup({ agentId: null, dispatchMetadataTemplate: answering }), both)
  t.match(await setup({ direction: 'inbound' }), { ...both, outboundReady: false })
  await sql`update phone_numbers set suspended_at = now() where id = ${number}`
  const row = (await call(acme, 'GET', path(number))).json<Row>()
  t.match(row.setupStatus, { status: 'suspended', inboundReady: false, outboundReady: false, agentReady: true })
  t.type(row['suspendedAt'], 'string')
})

t.test(
  'forwardingRequired is true until an imported inbound number receives its first call, even a refused call',
  async (t) => {
    const { id: organizationId } = await withNumber('forwards')
    const test = await admin.key(organizationId, { test: true, scopes: ['platform'] })
    const sides = { inbound: { allowedAddresses: ['203.0.113.0/28'] }, outbound: { host: 'sip.example.com' } }
    const connection = (
      await call(test, 'POST', '/v1/phone-numbers/sip-connections', { name: 'Trunk', ...sides })
    ).json<Row>()
    const e164 = nextNumber()
    const trunk = { e164, sipConnectionInstallationId: connection.id, dispatchMetadataTemplate: answering }
    const imported = (await call(test, 'POST', '/v1/phone-numbers/import', trunk)).json<Row>()
    const waiting = { forwardingRequired: true, issues: ['forwarding_required'] }
    t.match(imported.setupStatus, { ...waiting, status: 'ready', inboundReady: true }, 'the field only informs')
    const setup = async () => (await call(test, 'GET', path(imported.id))).json<Row>().setupStatus
    const direction = async (wanted: string) =>
      (await patch(test, imported.id, { direction: wanted })).json<Row>().setupStatus
    t.match(await direction('inbound'), waiting)
    t.match(await direction('outbound'), { forwardingRequired: false, issues: [] })
    const ring = async () => {
      const body = JSON.stringify({ to: e164, lines: ['Goodbye.'], organizationId })
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${test.key}` }
      t.equal((await fetch(`${parley.url}/simulator/calls`, { method: 'POST', headers, body })).status, 201)
    }
    await ring()
    for (let tries = 0; tries < 200; tries++) {
      const calls = await sql`select from calls where organization_id = ${organizationId} and test`
      if (calls.length > 0) break
      await sleep(50)
    }
    t.match(await direction('both'), { forwardingRequired: false, issues: [] }, 'the number is reached')
    t.match(await setup(), { status: 'ready', forwardingRequired: false, issues: [] })
  },
)

t.test('an imported number places and receives calls only as its SIP connection allows', async (t) => {
  const { id: organizationId } = await withNumber('sides')
  const test = await admin.key(organizationId, { test: true, scopes: ['platform'] })
  const connections = '/v1/phone-numbers/sip-connections'
  const sides = { inbound: { allowedAddresses: ['203.0.113.0/28'] }, outbound: { host: 'sip.example.com' } }
  const { inbound } = sides
  const connection = (await call(test, 'POST', connections, { name: 'Trunk', inbound })).json<Row>().id
  const e164 = nextNumber()
  const trunk = { e164, sipConnectionInstallationId: connection, dispatchMetadataTemplate: answering }
  const { id, setupStatus } = (await call(test, 'POST', '/v1/phone-numbers/import', trunk)).json<Row>()
  t.match(setupStatus, { status: 'action_required', inboundReady: true, outboundReady: false })
  const dial = (more: object) =>
    call(test, 'POST', '/v1/sessions/phone', { to: '+15005550002', intent: { language: 'en' }, ...more })
  t.same(faultOf(await dial({ from: e164 })), { status: 409, code: 'PHONE_NUMBER_NOT_READY' })
  t.equal((await dial({})).status, 400, 'the organization has no other number')
  const changed = async (body: object) => {
    t.equal((await call(test, 'PATCH', `${connections}/${connection}`, body)).status, 200)
    return (await call(test, 'GET', path(id))).json<Row>().setupStatus
  }
  t.match(await changed(sides), { status: 'ready', inboundReady: true, outboundReady: true })
  const dialed = await dial({ from: e164 })
  t.match(dialed.json(), { from: e164, status: 'dialing' }, dialed.text)
  await call(test, 'POST', `/v1/calls/${dialed.json<{ sessionId: string }>().sessionId}/end`)
  const single = await changed({ inbound: null })
  t.match(single, { status: 'action_required', inboundReady: false, outboundReady: true })
})

t.test('on a server without a SIP port, a number on a SIP trunk is not ready for calls', async (t) => {
  const { acme } = await withNumber('without port')
  const sides = { inbound: { allowedAddresses: ['203.0.113.0/28'] }, outbound: { host: 'sip.example.com' } }
  const connection = (
    await call(acme, 'POST', '/v1/phone-numbers/sip-connections', { name: 'Trunk', ...sides })
  ).json<Row>()
  t.match(connection, { status: 'unverified', inbound: { uri: null } })
  const trunk = { sipConnectionInstallationId: connection.id, dispatchMetadataTemplate: answering }
  const imported = (await call(acme, 'POST', '/v1/phone-numbers/import', { e164: nextNumber(), ...trunk })).json<Row>()
  const unserved = {
    ...{ status: 'action_required', inboundReady: false, outboundReady: false, agentReady: true },
    ...{ sipConnectionReady: false, issues: ['sip_port_missing', 'forwarding_required'] },
  }
  t.match(imported.setupStatus, unserved)
  const rows = (await call(acme, 'GET', '/v1/phone-numbers')).json<Row[]>()
  t.match(rows.find(({ id }) => id === imported.id)?.setupStatus, unserved)
  t.match((await patch(acme, imported.id, { direction: 'outbound' })).json<Row>().setupStatus, {
    ...unserved,
    issues: ['sip_port_missing'],
  })
})

t.test('an imported live number needs a SIP port, but an imported test number does not', async (t) => {
  const { acme } = await withNumber('needs no port')
  const test = await admin.key(acme.id, { test: true })
  for (const target of [acme, test]) {
    const connection = { name: 'Trunk', outbound: { host: 'sip.example.com' } }
    const { id } = (await call(target, 'POST', '/v1/phone-numbers/sip-connections', connection)).json<Row>()
    const wanted = { e164: nextNumber(), sipConnectionInstallationId: id, direction: 'outbound' }
    t.equal((await call(target, 'POST', '/v1/phone-numbers/import', wanted)).status, 201)
  }
  const issuesOf = async (target: Target, source: string) =>
    (await call(target, 'GET', '/v1/phone-numbers'))
      .json<(Row & { source: string; setupStatus: { issues: string[] } })[]>()
      .filter((row) => row.source === source)
      .map(({ setupStatus }) => setupStatus.issues)
  t.same(await issuesOf(acme, 'sip_trunk'), [['sip_port_missing']])
  t.same(await issuesOf(test, 'sip_trunk'), [[]])
  t.notMatch(JSON.stringify([await issuesOf(acme, 'managed'), await issuesOf(test, 'managed')]), 'sip_port_missing')
})

t.test('a number for inbound calls needs an agent, or a dispatch template with intent and systemPrompt', async (t) => {
  const { acme, number, agent } = await withNumber('answers')
  const refused = { status: 400, code: 'VALIDATION_ERROR', paths: ['/dispatchMetadataTemplate'] }
  for (const template of [null, { systemPrompt: 'Hi.' }, { intent: { language: 'en' } }, { ...answering, intent: {} }])
    for (const direction of ['inbound', 'both']) {
      const body = { direction, dispatchMetadataTemplate: template }
      t.same(faultOf(await patch(acme, number, body)), refused, JSON.stringify(body))
    }
  const partial = { direction: 'inbound', agentId: await agent(), dispatchMetadataTemplate: { systemPrompt: 'Hi.' } }
  t.equal((await patch(acme, number, partial)).status, 200)
  t.same(faultOf(await patch(acme, number, { agentId: null })), refused, 'the row as a whole counts')
  t.equal((await patch(acme, number, { direction: 'outbound', agentId: null })).status, 200)
  const other = await agent()
  const { agentId, direction } = (await patch(acme, number, { agentId: other })).json<Row>()
  t.same({ agentId, direction }, { agentId: other, direction: 'outbound' }, 'an agent alone leaves the direction')
})

t.test('a dispatch template is validated like a session request, and accepts three placeholders', async (t) => {
  const { acme, number } = await withNumber('templates')
  const at = '/dispatchMetadataTemplate'
  const refused: [template: object, path: string][] = [
    [{ systemPrompt: 'Hi {{caller}}.' }, `${at}/systemPrompt`],
    [{ crm: [{ key: '{{ callerNumber' }] }, `${at}/crm/0/key`],
    [{ maxDurationSeconds: 1 }, `${at}/maxDurationSeconds`],
    [{ timezone: 'Mars/Olympus' }, `${at}/timezone`],
    [{ systemPrompt: 'Hi {% if %}' }, `${at}/systemPrompt`],
    [{ note: 'x'.repeat(16_384) }, at],
    [{ a: { b: { c: { d: { e: { f: { g: { h: {} } } } } } } } }, at],
  ]
  for (const [template, place] of refused) {
    const fault = faultOf(await patch(acme, number, { dispatchMetadataTemplate: template }))
    t.same(fault, { status: 400, code: 'VALIDATION_ERROR', paths: [place] }, JSON.stringify(template).slice(0, 80))
  }
  const source = { kind: 'webhook', url: 'https://shop.example/', authHeaders: [{ name: 'x-key', value: 'secret' }] }
  const tool = { name: 'find', description: 'Finds.', source }
  t.same(faultOf(await patch(acme, number, { dispatchMetadataTemplate: { tools: [tool] } })), {
    status: 400,
    code: 'VALIDATION_ERROR',
    paths: [`${at}/tools/0/source/authHeaders`],
  })
  const template = {
    ...answering,
    firstMessage: 'You called {{dialedNumber}} from {{ callerNumber }}.',
    webhookTags: { line: '{{forwardedFromNumber}}' },
    order: { list: ['4711'] },
  }
  const changed = await patch(acme, number, { direction: 'both', dispatchMetadataTemplate: template })
  t.same(changed.json<Row>()['dispatchMetadataTemplate'], template, changed.text)
  t.equal((await patch(acme, number, { direction: 'outbound', dispatchMetadataTemplate: null })).status, 200)
})

t.test('updatePhoneNumber: null removes a value, {} changes nothing, and e164 is refused', async (t) => {
  const { acme, number } = await withNumber('changes')
  const labelled = (await patch(acme, number, { label: 'Front\u0000desk' })).json<Row>()
  t.equal(labelled['label'], 'Front\ufffddesk')
  t.same((await patch(acme, number, {})).json(), labelled)
  t.equal((await patch(acme, number, { label: null })).json<Row>()['label'], null)
  t.equal((await patch(acme, number, { label: 'x'.repeat(121) })).status, 400)
  t.equal((await patch(acme, number, { e164: '+12125550100' })).status, 400)
})

t.test(
  'updatePhoneNumber: after a change of its SIP connection an imported number is not ready until its first call',
  async (t) => {
    const { acme, tenant, number } = await withNumber('moves')
    const inbound = { allowedAddresses: ['203.0.113.0/28'] }
    const connection = async (target: Target, name: string) =>
      (await call(target, 'POST', '/v1/phone-numbers/sip-connections', { name, inbound })).json<Row>().id
    const [first, second] = [await connection(acme, 'First'), await connection(acme, 'Second')]
    const e164 = nextNumber()
    const importing = (sipConnectionInstallationId: string) =>
      call(acme, 'POST', '/v1/phone-numbers/import', {
        e164,
        sipConnectionInstallationId,
        dispatchMetadataTemplate: answering,
      })
    const { id } = (await importing(first)).json<Row>()
    await sql`update phone_numbers set first_called_at = now() where id = ${id}`
    const named = (
      await patch(acme, id, { sipProviderName: 'Example Telecom', sipConnectionInstallationId: first })
    ).json<Row>()
    t.match(named, { sipProviderName: 'Example Telecom', setupStatus: { forwardingRequired: false } })
    const moved = (await patch(acme, id, { sipConnectionInstallationId: second })).json<Row>()
    t.match(moved, { sipConnectionInstallationId: second, sipProviderName: 'Example Telecom' })
    t.match(moved.setupStatus, { forwardingRequired: true })
    t.equal((await patch(acme, id, { sipProviderName: null })).json<Row>()['sipProviderName'], null)
    t.equal((await importing(first)).status, 201, 'the first connection has it no longer')
    const taken = await patch(acme, id, { sipConnectionInstallationId: first })
    t.same(faultOf(taken), { status: 409, code: 'PHONE_NUMBER_EXISTS' })
    const other = await withNumber('with another trunk')
    const test = await admin.key(tenant.organizationId, { test: true, scopes: ['platform'] })
    const foreign = [
      await connection(other.acme, 'Theirs'),
      await connection(test, 'Test'),
      `sip_${'0'.repeat(22)}`,
      'x',
    ]
    for (const sipConnectionInstallationId of foreign) {
      const refused = await patch(acme, id, { sipConnectionInstallationId })
      t.same(faultOf(refused), { status: 404, code: 'NOT_FOUND' })
      t.match(refused.json<{ error: string }>().error, /^\/sipConnectionInstallationId /)
    }
    for (const body of [{ sipConnectionInstallationId: first }, { sipProviderName: 'Example Telecom' }]) {
      const refused = faultOf(await patch(acme, number, body))
      t.same(
        refused,
        { status: 400, code: 'VALIDATION_ERROR', paths: [`/${Object.keys(body)[0]}`] },
        'a number of the carrier',
      )
    }
  },
)

t.test("an agent that is unknown, or another organization's or a test key's, is not found", async (t) => {
  const { acme, number, id } = await withNumber('agents')
  const other = await withNumber('other agents')
  const test = await admin.key(id, { test: true })
  const wanted = { name: 'Test', systemPrompt: 'Be brief.', intent: { language: 'en' } }
  const inTest = (await call(test, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
  for (const agentId of [await other.agent(), inTest, 'agent_0123456789012345678901', 'x\u0000']) {
    const answer = await patch(acme, number, { agentId })
    t.same(faultOf(answer), { status: 404, code: 'NOT_FOUND' })
    t.match(answer.json<{ error: string }>().error, /^\/agentId /)
  }
})

t.test('deleteAgent is answered AGENT_IN_USE while a phone number uses the agent', async (t) => {
  const { acme, tenant, number, agent } = await withNumber('in use')
  const agentId = await agent()
  const second = await insertNumber(sql, tenant, { e164: nextNumber() })
  for (const id of [number, second]) t.equal((await patch(acme, id, { agentId })).status, 200)
  const refused = await call(acme, 'DELETE', `/v1/agents/${agentId}`)
  t.match(refused.json(), { code: 'AGENT_IN_USE', details: { phoneNumberIds: [number, second], callbackIds: [] } })
  t.equal(refused.status, 409)
  for (const id of [number, second]) t.equal((await patch(acme, id, { agentId: null })).status, 200)
  t.equal((await call(acme, 'DELETE', `/v1/agents/${agentId}`)).status, 200)
})

t.test('if an agent is deleted while it is assigned to a number, one of the two requests is refused', async (t) => {
  const { acme, number, agent } = await withNumber('at once')
  for (let tries = 0; tries < 10; tries++) {
    const agentId = await agent()
    const [changed, deleted] = await Promise.all([
      patch(acme, number, { agentId }),
      call(acme, 'DELETE', `/v1/agents/${agentId}`),
    ])
    const outcome = `${changed.status} ${deleted.status}`
    t.ok(outcome === '200 409' || outcome === '404 200', outcome)
    t.equal((await patch(acme, number, { agentId: null })).status, 200)
  }
})

t.test('searchPhoneNumbers filters by area code, and returns at most the requested limit', async (t) => {
  const { acme } = await withNumber('searches')
  const search = (query: string) => call(acme, 'GET', `/v1/phone-numbers/available${query}`)
  const found = (await search('?areaCode=303&limit=3')).json<{ e164: string }[]>()
  t.same(
    found.map(({ e164 }) => e164),
    ['+13035550100', '+13035550101', '+13035550102'],
  )
  t.equal((await search('')).json<object[]>().length, 10)
  t.same((await search('?areaCode=999')).json(), [])
  for (const query of ['?areaCode=123', '?areaCode=2', '?limit=51', '?limit=0', '?locality='])
    t.equal((await search(query)).status, 400, query)
})

t.test('purchasePhoneNumber: a test key buys a simulated number that can call and be called', async (t) => {
  const { id } = await withNumber('buys')
  const test = await admin.key(id, { test: true, scopes: ['platform'] })
  const template = { ...answering, firstMessage: 'Hello.' }
  const wanted = { e164: '+13035550120', dispatchMetadataTemplate: template }
  const bought = await call(test, 'POST', '/v1/phone-numbers', wanted)
  t.equal(bought.status, 201, bought.text)
  const ready = { status: 'ready', inboundReady: true, outboundReady: true }
  t.match(bought.json(), { test: true, direction: 'both', source: 'managed', setupStatus: ready })
  const { nextChargeAt, monthlyMicroUsd } = bought.json<Row>()
  t.same({ nextChargeAt, monthlyMicroUsd }, { nextChargeAt: null, monthlyMicroUsd: '0' }, 'the number costs nothing')
  t.same(faultOf(await call(test, 'POST', '/v1/phone-numbers', wanted)), { status: 409, code: 'PHONE_NUMBER_EXISTS' })
  const dialed = await call(test, 'POST', '/v1/sessions/phone', { to: '+15005550002', intent: { language: 'en' } })
  t.match(dialed.json(), { from: '+13035550120', status: 'dialing' }, dialed.text)
  const { sessionId } = dialed.json<{ sessionId: string }>()
  const { id: number } = bought.json<{ id: string }>()
  t.same((await call(test, 'DELETE', path(number))).json(), { released: true })
  t.match((await call(test, 'GET', `/v1/calls/${sessionId}`)).json(), { ended_at: null }, 'the call goes on')
  await call(test, 'POST', `/v1/calls/${sessionId}/end`)
  t.same(faultOf(await call(test, 'DELETE', path(number))), { status: 404, code: 'NOT_FOUND' })
})

t.test(
  'purchasePhoneNumber: a repeated Idempotency-Key buys nothing, but after a refusal the key can be used again',
  async (t) => {
    const { id } = await withNumber('repeats')
    const test = await admin.key(id, { test: true, scopes: ['platform'] })
    const buy = (e164: string, key: string) =>
      send(test, '/v1/phone-numbers', {
        method: 'POST',
        body: JSON.stringify({ e164 }),
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
      })
    const first = await buy('+13035550130', 'one')
    t.equal(first.status, 201, first.text)
    const repeat = await buy('+13035550130', 'one')
    t.same([repeat.status, repeat.json()], [201, first.json()])
    t.equal(repeat.headers.get('idempotent-replayed'), 'true')
    t.match((await buy('+13035550131', 'one')).json(), { code: 'IDEMPOTENCY_CONFLICT' })
    t.match((await buy('+13035550130', 'two')).json(), { code: 'PHONE_NUMBER_EXISTS' })
    t.equal((await buy('+13035550132', 'two')).status, 201, 'a refusal leaves the key free')
    t.equal((await call(test, 'GET', '/v1/phone-numbers')).json<Row[]>().length, 2)
  },
)
