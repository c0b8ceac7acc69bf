/** With the setting `clients: family`, rows and bodies have the form of the hosted product's published SDKs. */
import t from 'tap'
import { nextMonthlyMs } from '../../domain/numbers/months.ts'
import { authorizedRepresentative, businessProfile, forms } from '../numbers/forms.ts'
import { insertNumber } from '../phone/stored-number.ts'
import { openDatabase } from '../process/database.ts'
import { insertMessage, masterKey, outboundEvent, postEvent } from '../rmsg/provider-events.ts'
import { insertRmsgNumber } from '../rmsg/stored-number.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { insertEndpoint, recordDelivery } from '../webhooks/recorded.ts'
import { call, faultOf, startOwnAdministered } from './setup.ts'

const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_CLIENTS: 'family',
  PARLEY_KYB_REVIEW: 'operator',
  PARLEY_MASTER_KEY: masterKey,
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())
const acme = await admin.organization('of the family', { scopes: ['router', 'platform', 'rmsg'] })
const intent = { language: 'en', optimizeFor: 'balanced' }
const url = 'https://hooks.example/calls'
const post = async (path: string, body: object) => (await raw<Record<string, unknown>>('POST', path, body)).body
const agent = await post('/v1/agents', {
  name: 'Desk',
  systemPrompt: 'Be brief.',
  intent,
  turnHandling: { turnDetection: false },
  backgroundAudio: { ambient: { clip: 'office-ambience', volume: 8 } },
  webhooks: {
    status: { url, secret: 'a secret', authHeaders: [{ name: 'x-token', value: 't' }] },
    recording: { url },
  },
})
const agentPath = `/v1/agents/${String(agent['id'])}`

/** Sends a request without checking the answer against the contract, because some values in this form are not in it. */
async function raw<Body>(method: string, path: string, body?: object): Promise<{ status: number; body: Body }> {
  const headers = { authorization: `Bearer ${acme.key}`, 'content-type': 'application/json' }
  const answer = await fetch(`${acme.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  return { status: answer.status, body: (await answer.json()) as Body }
}

t.test("with `clients: family` (the hosted product's API) an agent shows references instead of secrets", async (t) => {
  for (const row of [agent, (await raw<typeof agent>('GET', agentPath)).body]) {
    t.same(row['intent'], { language: 'en' })
    t.same(Object.keys(row['webhooks'] as object), ['status', 'recording'], 'no webhook is null')
    t.match(row['webhooks'], {
      status: {
        hasSecret: true,
        secretRef: /^secret:/,
        authHeaders: [{ name: 'x-token', secretRef: /^secret:.*x-token$/ }],
      },
      recording: { hasSecret: false, secretRef: 'secret:workspace' },
    })
  }
  const listed = (await raw<{ id: unknown }[]>('GET', '/v1/agents')).body
  t.same(
    listed.find(({ id }) => id === agent['id']),
    (await raw('GET', agentPath)).body,
  )
  const changed = await raw<object>('PATCH', agentPath, { voice: 'anna' })
  t.match(changed.body, { intent: { language: 'en' }, voice: 'anna' })
})

t.test("with `clients: family` an agent shows only objectives that the hosted product's SDKs define", async (t) => {
  const made = async (optimizeFor: string) => {
    const row = await post('/v1/agents', {
      name: optimizeFor,
      systemPrompt: 'x',
      intent: { language: 'en', optimizeFor },
    })
    return String(row['id'])
  }
  const shown = [
    ['accuracy', { language: 'en', optimizeFor: 'quality' }],
    ['quality', { language: 'en', optimizeFor: 'quality' }],
    ['cost', { language: 'en', optimizeFor: 'cost' }],
    ['balanced', { language: 'en' }],
  ] as const
  const rows = await Promise.all(shown.map(async ([word, row]) => [await made(word), row] as const))
  const listed = (await raw<{ id: string; intent: object }[]>('GET', '/v1/agents')).body
  for (const [id, row] of rows) {
    t.same(listed.find((one) => one.id === id)?.intent, row)
    t.same((await raw<{ intent: object }>('GET', `/v1/agents/${id}`)).body.intent, row)
  }
})

t.test(
  'a boolean turnDetection, any clip volume and any maxDurationSeconds are accepted, as in the hosted product',
  async (t) => {
    t.match(agent, { turnHandling: { turnDetection: 'vad' }, backgroundAudio: { ambient: { volume: 1 } } })
    const change = {
      turnHandling: { turnDetection: true },
      backgroundAudio: { toolSound: { clip: 'keyboard-typing', volume: 0.5 } },
    }
    const changed = await raw<object>('PATCH', agentPath, change)
    t.match(changed.body, {
      turnHandling: { turnDetection: 'text' },
      backgroundAudio: { toolSound: { volume: 0.5 } },
    })
    for (const [asked, taken] of [
      [1, 30],
      [86_400, 14_400],
      [600, 600],
      [90.5, 91],
    ] as const) {
      const made = await post('/v1/sessions', { intent, maxDurationSeconds: asked })
      const session = await call(acme, 'GET', `/v1/sessions/${String(made['sessionId'])}`)
      t.match(session.json(), { pipelineConfig: { maxDurationSeconds: taken } })
    }
    t.match(faultOf(await call(acme, 'PATCH', agentPath, { turnHandling: { turnDetection: 1 } })), { status: 400 })
  },
)

t.test("with `clients: family` (the hosted product's API) a tool shows references instead of secrets", async (t) => {
  const source = {
    kind: 'webhook',
    url,
    secret: 'a secret',
    authHeaders: [{ name: 'authorization', value: 'Bearer t' }],
  }
  const tool = await post(`${agentPath}/tools`, {
    name: 'find',
    description: 'Finds.',
    parameters: { type: 'object' },
    source,
  })
  const path = `${agentPath}/tools/${String(tool['id'])}`
  const read = (await raw<{ source: object }>('GET', path)).body
  t.match(read, {
    source: { secretRef: /^secret:tool_/, authHeaders: [{ name: 'authorization', secretRef: /^secret:tool_/ }] },
  })
  t.notOk('headers' in read.source, 'no field of the source is null')
  t.same((await raw('GET', `${agentPath}/tools?available=1`)).body, [read])
  const moved = await raw<{ source: object }>('PATCH', path, { source: { kind: 'webhook', url } })
  t.match(moved.body.source, { secretRef: /^secret:tool_/ })
  t.notOk('authHeaders' in moved.body.source)
})

type NumberRow = { direction: string; agentId: string | null; nextChargeAt: string; createdAt: string }
let numbers = 1300
/** Adds a phone number. `change` updates it, and returns its direction and agent from the answer. */
async function withNumber(row: { direction?: 'inbound' | 'outbound' | 'both'; template?: object } = {}) {
  const id = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: `+1212555${numbers++}`, ...row })
  const change = async (body: object) => {
    const changed = await call(acme, 'PATCH', `/v1/phone-numbers/${id}`, body)
    const { direction, agentId } = changed.json<NumberRow>()
    return { status: changed.status, direction, agentId }
  }
  return { id, change }
}
const other = String((await post('/v1/agents', { name: 'Other', systemPrompt: 'x', intent }))['id'])
const desk = String(agent['id'])

t.test(
  'attachPhoneNumber: an outbound number accepts inbound calls too, and an inbound number stays inbound',
  async (t) => {
    for (const [before, after] of [
      ['outbound', 'both'],
      ['inbound', 'inbound'],
      ['both', 'both'],
    ] as const) {
      const { change } = await withNumber()
      t.same(await change({ agentId: desk, direction: before }), { status: 200, agentId: desk, direction: before })
      t.same(await change({ agentId: other }), { status: 200, agentId: other, direction: after }, before)
    }
    const { change } = await withNumber()
    t.same(
      await change({ agentId: desk, label: 'Desk' }),
      { status: 200, agentId: desk, direction: 'outbound' },
      'not alone',
    )
    t.same(await change({ agentId: other, direction: 'outbound' }), {
      status: 200,
      agentId: other,
      direction: 'outbound',
    })
  },
)

t.test('detachPhoneNumber: a number that loses its last agent or dispatch template is outbound only', async (t) => {
  for (const direction of ['inbound', 'both'] as const) {
    const { change } = await withNumber()
    await change({ agentId: desk, direction })
    t.same(await change({ agentId: null }), { status: 200, agentId: null, direction: 'outbound' }, direction)
    t.same(await change({ agentId: desk }), { status: 200, agentId: desk, direction: 'both' }, 'attached again')
    t.equal((await change({ agentId: null, direction })).status, 400, 'a direction that is asked for counts')
  }
  const template = { intent: { language: 'en' }, systemPrompt: 'You take messages.' }
  const { change } = await withNumber()
  await change({ agentId: desk, direction: 'inbound', dispatchMetadataTemplate: template })
  t.same(await change({ agentId: null }), { status: 200, agentId: null, direction: 'inbound' }, 'the template answers')
  t.same(await change({ dispatchMetadataTemplate: null }), { status: 200, agentId: null, direction: 'outbound' })
})

t.test("attachPhoneNumber: if the number's connection places no calls, the number is inbound only", async (t) => {
  const inbound = { allowedAddresses: ['203.0.113.0/28'] }
  const connection = await post('/v1/phone-numbers/sip-connections', { name: 'inbound alone', inbound })
  const imported = await post('/v1/phone-numbers/import', {
    ...{ e164: '+12125551397', sipConnectionInstallationId: connection['id'], agentId: desk, direction: 'inbound' },
  })
  const change = async (body: object) =>
    (await call(acme, 'PATCH', `/v1/phone-numbers/${String(imported['id'])}`, body)).json<NumberRow>().direction
  t.equal(await change({ agentId: null }), 'outbound')
  t.equal(await change({ agentId: desk }), 'inbound')
})

t.test('a change of another field keeps the direction of a number without an agent', async (t) => {
  const { id, change } = await withNumber({ direction: 'inbound' })
  await change({ label: 'Desk' })
  t.equal((await call(acme, 'GET', `/v1/phone-numbers/${id}`)).json<NumberRow>().direction, 'inbound')
})

t.test("with `clients: family` (hosted product's API) a free number's charge date is a month later", async (t) => {
  const { id } = await withNumber()
  const row = (await call(acme, 'GET', `/v1/phone-numbers/${id}`)).json<NumberRow & { monthlyMicroUsd: string }>()
  const createdAtMs = Date.parse(row.createdAt)
  t.equal(row.nextChargeAt, new Date(nextMonthlyMs(createdAtMs, createdAtMs)).toISOString())
  t.equal(row.monthlyMicroUsd, '0')
  const listed = (await call(acme, 'GET', '/v1/phone-numbers')).json<NumberRow[]>()
  t.ok(listed.length > 0 && listed.every(({ nextChargeAt }) => nextChargeAt !== null))
  for (const field of ['telnyxPhoneNumberId', 'sipTrunkId', 'sms10dlcProfileId']) t.ok(Object.hasOwn(row, field), field)
  const imported = await post('/v1/phone-numbers/sip-connections', { name: 'desk', outbound: { host: 'sip.example' } })
  const body = { e164: '+12125551399', sipConnectionInstallationId: imported['id'], sipTrunkId: 'trunk_1' }
  t.match((await post('/v1/phone-numbers/import', body))['nextChargeAt'], /^\d/)
})

t.test('with `clients: family` a dispatch template may be a session request of the hosted product', async (t) => {
  const template = {
    intent: { language: 'en' },
    systemPrompt: 'x',
    turnHandling: { turnDetection: true },
    maxDurationSeconds: 20,
  }
  const { id } = await withNumber()
  const changed = await call(acme, 'PATCH', `/v1/phone-numbers/${id}`, { dispatchMetadataTemplate: template })
  const read = { turnHandling: { turnDetection: 'text' }, maxDurationSeconds: 30 }
  t.match([changed.status, changed.json()], [200, { dispatchMetadataTemplate: read }], changed.text)
  const connection = await post('/v1/phone-numbers/sip-connections', {
    name: 'template',
    outbound: { host: 'sip.example' },
  })
  const wanted = {
    e164: '+12125551398',
    sipConnectionInstallationId: connection['id'],
    dispatchMetadataTemplate: template,
  }
  t.match(await post('/v1/phone-numbers/import', wanted), { dispatchMetadataTemplate: read })
})

t.test("with `clients: family` (the hosted product's API) a business verification has all fields", async (t) => {
  const path = '/v1/phone-numbers/kyb'
  t.same((await raw('GET', path)).body, { status: 'missing', submission: null, prefill: null })
  const save = (body: object) => raw<{ businessProfile: object }>('PUT', `${path}/draft`, body)
  const draft = await save({ businessProfile: { legalName: 'Harbor' } })
  const whole = {
    legalName: 'Harbor',
    ...{ displayName: '', entityType: '', country: '', website: '', useCase: '', expectedUsage: '' },
    address: { street: '', city: '', state: '', postalCode: '', country: '' },
  }
  const row = { id: /^kyb_/, status: 'draft', slackNotificationStatus: 'not_queued' }
  t.match(draft.body, { ...row, submission: row })
  for (const field of ['submittedByEmail', 'reviewerUserId', 'slackNotificationJobId'])
    t.ok(Object.hasOwn(draft.body, field), field)
  const { businessProfile: sentBack } = draft.body
  t.same(sentBack, whole)
  const again = await save({ businessProfile: sentBack, authorizedRepresentative: { name: '', title: '', email: '' } })
  t.match(again, { status: 200, body: row }, 'the row is sent back as it was read')
  t.same(again.body.businessProfile, sentBack)
  const submitted = await raw('POST', `${path}/submit`, { ...forms, attestationVersion: '1' })
  const sent = { businessProfile, authorizedRepresentative, attestationAccepted: true }
  t.match(submitted, { status: 200, body: { status: 'submitted', ...sent } })
  t.match((await raw('GET', path)).body, { submission: { status: 'submitted', slackNotificationStatus: 'not_queued' } })
})

type Detail = { event: string; attempts: { requestBody: object }[]; requestPayload: object }
type Page = { data: { id: string; event: string; endpointKind: string }[]; endpointOptions: { kind: string }[] }
const deliveries = (query: string) => raw<Page>('GET', `/v1/webhook-deliveries?${query}`)
const delivery = async (id = '') => (await raw<Detail>('GET', `/v1/webhook-deliveries/${id}`)).body

t.test("with `clients: family` (the hosted product's API) the event in a webhook delivery is an object", async (t) => {
  const tenant = { organizationId: acme.id, test: false }
  const payload = { order: '4711' }
  const id = await recordDelivery(admin.store, tenant, await insertEndpoint(sql, tenant, url), { payload })
  const [listed] = (await deliveries('event=call.status')).body.data
  t.match(listed, { id, event: 'call.status', endpointKind: 'workspace' })
  const { attempts, requestPayload } = await delivery(id)
  t.match(requestPayload, { type: 'call.status', ...payload })
  t.same(
    attempts.map(({ requestBody }) => requestBody),
    [requestPayload],
  )
})

t.test("with `clients: family` events of rich messages have the hosted product's names", async (t) => {
  await admin.store.organizations.change(acme.id, { rmsgEnabled: true })
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const e164 = '+15005550599'
  const number = { id: await insertRmsgNumber(sql, { e164, organizationId: acme.id }), organizationId: acme.id }
  t.equal((await call(acme, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: receiver.url })).status, 201)
  const message = await insertMessage(sql, number, {})
  const event = outboundEvent(`identity-${e164}`, message, {
    type: 'rmsg.delivered',
    status: 'delivered',
    service: 'sms',
  })
  t.equal(await postEvent(parley.url, event), 200)
  const { status, body: page } = await deliveries('event=imessage.delivered')
  t.same(
    [status, page.data.map(({ event, endpointKind }) => [event, endpointKind])],
    [200, [['imessage.delivered', 'imessage']]],
  )
  t.same([...new Set(page.endpointOptions.map(({ kind }) => kind))].sort(), ['imessage', 'workspace'])
  t.same((await deliveries('event=rmsg.delivered')).body, page, 'the name of the contract is taken too')
  t.same((await deliveries('event=imessage.received')).body.data, [])
  const detail = await delivery(page.data[0]?.id)
  t.equal(detail.event, 'imessage.delivered')
  t.same(detail.attempts[0]?.requestBody, detail.requestPayload)
})
