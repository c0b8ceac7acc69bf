/** The rows that the published SDKs of the hosted product read with the setting `clients: family`, and the bodies that they send. */
import t from 'tap'
import type { Caller } from '../../domain/access/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { withFamilyRows } from '../../handlers/platform/family-rows.ts'
import type { Context } from '../../runtime/engine/handler.ts'
import { businessProfile, forms } from '../numbers/forms.ts'
import { insertNumber } from '../phone/stored-number.ts'
import { openDatabase } from '../process/database.ts'
import { call, faultOf, startOwnAdministered } from './setup.ts'

const { parley, admin } = await startOwnAdministered(t, { PARLEY_CLIENTS: 'family', PARLEY_KYB_REVIEW: 'operator' })
const sql = openDatabase(parley)
t.teardown(() => sql.end())
const acme = await admin.organization('of the family')
const intent = { language: 'en', optimizeFor: 'balanced' }
const url = 'https://hooks.example/calls'
const post = async (path: string, body: object) =>
  (await call(acme, 'POST', path, body)).json<Record<string, unknown>>()
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

t.test('an agent names where its secrets are, and no balanced intent', async (t) => {
  for (const row of [agent, (await call(acme, 'GET', agentPath)).json<typeof agent>()]) {
    t.same(row['intent'], { language: 'en' })
    t.match(row['webhooks'], {
      preCall: null,
      status: {
        hasSecret: true,
        secretRef: /^secret:/,
        authHeaders: [{ name: 'x-token', secretRef: /^secret:.*x-token$/ }],
      },
      recording: { hasSecret: false, secretRef: 'secret:workspace' },
    })
  }
  const [listed] = (await call(acme, 'GET', '/v1/agents')).json<object[]>()
  t.same(listed, (await call(acme, 'GET', agentPath)).json())
  t.match((await call(acme, 'PATCH', agentPath, { voice: 'anna' })).json(), {
    intent: { language: 'en' },
    voice: 'anna',
  })
})

t.test(
  'a boolean turnDetection, loud clips and any longest call are read as the hosted product reads them',
  async (t) => {
    t.match(agent, { turnHandling: { turnDetection: 'vad' }, backgroundAudio: { ambient: { volume: 1 } } })
    const change = {
      turnHandling: { turnDetection: true },
      backgroundAudio: { toolSound: { clip: 'keyboard-typing', volume: 0.5 } },
    }
    const changed = await call(acme, 'PATCH', agentPath, change)
    t.match(changed.json(), {
      turnHandling: { turnDetection: 'text' },
      backgroundAudio: { toolSound: { volume: 0.5 } },
    })
    for (const [asked, taken] of [
      [1, 30],
      [86_400, 14_400],
      [600, 600],
    ] as const) {
      const made = await post('/v1/sessions', { intent, maxDurationSeconds: asked })
      const session = await call(acme, 'GET', `/v1/sessions/${String(made['sessionId'])}`)
      t.match(session.json(), { pipelineConfig: { maxDurationSeconds: taken } })
    }
    t.match(faultOf(await call(acme, 'PATCH', agentPath, { turnHandling: { turnDetection: 1 } })), { status: 400 })
  },
)

t.test('a tool names where its secrets are', async (t) => {
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
  const read = (await call(acme, 'GET', path)).json<object>()
  t.match(read, {
    source: { secretRef: /^secret:tool_/, authHeaders: [{ name: 'authorization', secretRef: /^secret:tool_/ }] },
  })
  t.same((await call(acme, 'GET', `${agentPath}/tools?available=1`)).json(), [read])
  const moved = await call(acme, 'PATCH', path, { source: { kind: 'webhook', url } })
  t.match(moved.json(), { source: { secretRef: /^secret:tool_/, authHeaders: null } })
})

t.test('attachPhoneNumber and detachPhoneNumber send the agent alone', async (t) => {
  const id = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+12125551300' })
  const patch = async (agentId: unknown) => (await call(acme, 'PATCH', `/v1/phone-numbers/${id}`, { agentId })).json()
  t.match(await patch(agent['id']), { direction: 'both', setupStatus: { inboundReady: true }, nextChargeAt: /^\d/ })
  t.match(await patch(null), { direction: 'outbound', agentId: null })
})

t.test('a verification is a submission too, and has no holes', async (t) => {
  const path = '/v1/phone-numbers/kyb'
  const missing = (await call(acme, 'GET', path)).json()
  t.same(missing, { status: 'missing', submission: null, prefill: null })
  // Its texts are empty, which the document does not allow.
  const draft = await fetch(`${acme.url}${path}/draft`, {
    method: 'PUT',
    body: JSON.stringify({ businessProfile: { legalName: 'Harbor' } }),
    headers: { authorization: `Bearer ${acme.key}`, 'content-type': 'application/json' },
  })
  const whole = { legalName: 'Harbor', displayName: '', address: { street: '' } }
  const row = { id: /^kyb_/, status: 'draft', businessProfile: whole, slackNotificationStatus: 'not_queued' }
  t.match(await draft.json(), { ...row, submission: row })
  const submitted = await call(acme, 'POST', `${path}/submit`, { ...forms, attestationVersion: '1' })
  t.match(submitted.json(), { status: 'submitted', businessProfile, attestationAccepted: true })
  t.match((await call(acme, 'GET', path)).json(), {
    submission: { status: 'submitted', slackNotificationStatus: 'not_queued' },
  })
})

/** Rows that are rare: the handlers of the test answer them. */
async function shown(name: keyof PlatformHandlers<Caller>, body: object): Promise<unknown> {
  const handlers = { [name]: () => ({ status: 200, body }) } as unknown as PlatformHandlers<Caller>
  const handle = withFamilyRows(handlers)[name] as (
    request: object,
    context: Context<Caller>,
  ) => Promise<{ body: unknown }>
  const answer = await handle({}, {} as Context<Caller>)
  return answer.body instanceof Uint8Array ? JSON.parse(new TextDecoder().decode(answer.body)) : answer.body
}

t.test('a cost that is not known is 0, and the report says that it is not whole', async (t) => {
  const lines = [
    { metric: 'input_tokens', costMicroUsd: null },
    { metric: 'characters', costMicroUsd: '12' },
  ]
  const report = { analysis_status: 'completed', cost_micro_usd: '12', cost_complete: false, cost_breakdown: lines }
  const whole = { ...report, cost_breakdown: [{ ...lines[0], costMicroUsd: '0' }, lines[1]] }
  t.same(await shown('getCallReport', report), whole)
  t.same(await shown('getCall', { id: 'c', report }), { id: 'c', report: whole })
  t.same(await shown('finalizeCallReport', { cost_micro_usd: '12', cost_breakdown: lines }), {
    cost_micro_usd: '12',
    cost_breakdown: whole.cost_breakdown,
  })
})

t.test('a report that is still being made is not there yet', async (t) => {
  const pending = { analysis_status: 'pending', cost_breakdown: [] }
  const refused = await shown('getCallReport', pending).catch((fault: unknown) => fault)
  t.match(refused, { data: { kind: 'report_missing', hasEnded: false } })
  t.same(await shown('getCall', { id: 'c', report: pending }), { id: 'c', report: null })
  t.same(await shown('getCall', { id: 'c', report: null }), { id: 'c', report: null })
})

t.test('deliveries have the event as an object, and rich messages their name there', async (t) => {
  const rich = { event: 'rmsg.received', endpointKind: 'rmsg' }
  const page = {
    data: [rich, { event: 'call.status', endpointKind: 'workspace' }],
    endpointOptions: [{ kind: 'rmsg' }],
  }
  t.same(await shown('listWebhookDeliveries', page), {
    data: [
      { event: 'imessage.received', endpointKind: 'imessage' },
      { event: 'call.status', endpointKind: 'workspace' },
    ],
    endpointOptions: [{ kind: 'imessage' }],
  })
  const requestPayload = { type: 'call.status' }
  const detail = {
    ...rich,
    requestPayload,
    attempts: [{ requestBody: '{"type":"call.status"}' }, { requestBody: null }],
  }
  t.match(await shown('getWebhookDelivery', detail), {
    event: 'imessage.received',
    attempts: [{ requestBody: requestPayload }, { requestBody: requestPayload }],
  })
})

t.test('a fallback has words, and an offered number a price', async (t) => {
  const cancelled = { id: 'x', fallback: { action: 'end_call', message: null } }
  t.same(await shown('cancelTransfer', cancelled), { id: 'x', fallback: { action: 'end_call', message: '' } })
  t.same(await shown('cancelTransfer', { id: 'x', fallback: null }), { id: 'x', fallback: null })
  const priced = { e164: '+12125550100', monthlyCostUsd: 0, upfrontCostUsd: 1 }
  t.same(await shown('searchPhoneNumbers', [priced, { ...priced, monthlyCostUsd: null }]), [priced])
})
