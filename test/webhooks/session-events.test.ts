/** A browser session and its events at a receiver, over real sockets. */
import t from 'tap'
import { validatorsOf } from '../../app/answer-checks.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { call, startAdministered, stubProviders } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { startStubOpenAi } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import { Page } from '../session/voice-session.ts'
import { ok, type Received, type Receiver, startReceiver } from './receiver.ts'

const stub = await startStubOpenAi()
const loopback = { id: 'loopback', adapter: 'loopback' }
t.teardown(() => stub.close())
const { parley, admin } = await startAdministered(t, {
  PARLEY_PROVIDERS: stubProviders(stub, [loopback]),
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
})

type Body = Record<string, unknown>
const bodyOf = ({ body }: Received) => JSON.parse(body.toString()) as Body
const typesOf = ({ received }: Receiver) => received.map((one) => bodyOf(one)['type'])
const ofType = ({ received }: Receiver, type: string) => received.map(bodyOf).filter((body) => body['type'] === type)
const events = ['call.pre_call', 'call.status', 'call.report', 'call.analysis', 'call.recording']
/** `loopback` answers the turns, and the stub answers the analysis. */
const constraints = { allowedProviders: { stt: ['loopback'], llm: ['loopback', 'main'], tts: ['loopback'] } }

async function register(target: Target, url: string, more: object = {}): Promise<string> {
  const made = await call(target, 'POST', '/v1/webhooks', { name: `at ${url}`, url, events, ...more })
  if (made.status !== 201) throw new Error(made.text)
  return made.json<{ id: string }>().id
}

const answer = {
  summary: 'The user said hello.',
  outcome: 'resolved',
  topics: ['greeting'],
  sentiment: 'positive',
  resolved: true,
  action_items: [],
  message: null,
}

t.test('a browser session sends all five webhook events', async (t) => {
  const acme = await admin.organization('all five', { scopes: ['router', 'platform', 'admin'] })
  t.equal((await call(acme, 'PATCH', '/v1/organization', { recording: true })).status, 200)
  const receiver = await startReceiver(ok)
  t.teardown(() => receiver.close())
  const fields = [
    { name: 'word', type: 'string', description: 'The word.' },
    { name: 'kind', type: 'enum', description: 'The kind.', options: ['hello', 'goodbye'] },
    { name: 'times', type: 'number', description: 'How often.' },
    { name: 'loud', type: 'boolean', description: 'Whether it was loud.' },
    { name: 'other', type: 'enum', description: 'Not said.', options: ['a'] },
  ]
  const endpointId = await register(acme, receiver.url, { extractionFields: fields, filterTags: { team: 'shop' } })
  stub.behave({ kind: 'ok', text: 'Hello.' })
  const page = await Page.join(acme, {
    constraints,
    llm: { model: 'main:chat' },
    metadata: { cart: '4711' },
    webhookTags: { team: 'shop', more: 'x' },
  })
  t.same(typesOf(receiver).slice(0, 1), ['call.pre_call'], 'it comes before the session is answered')
  page.send({ type: 'user_message', text: 'hello' })
  await until('an answer', () => page.all('agent_message').some((frame) => frame['isFinal'] === true))
  const said = { word: 'hello', kind: 'hello', times: '1', loud: 'true', other: 'b' }
  stub.behave({ kind: 'ok', text: JSON.stringify({ ...answer, fields: said }) })
  page.send({ type: 'end' })
  await until('the last event', () => {
    const ready = ofType(receiver, 'call.report').some((body) => body['recording_url'] !== null)
    return ready && new Set(typesOf(receiver)).size === 5 && ofType(receiver, 'call.status').length === 2
  })
  for (const body of receiver.received.map(bodyOf)) {
    const validate = validatorsOf('platform')?.payload(body['type'] as string)
    t.ok(validate?.(body), `${String(body['type'])} ${JSON.stringify(validate?.errors?.[0])}`)
    t.match(body, {
      call_id: page.id,
      session_id: page.id,
      organization_id: acme.id,
      metadata: { cart: '4711' },
      webhook_tags: { team: 'shop', more: 'x' },
    })
    t.notOk('test' in body)
  }
  const statuses = ofType(receiver, 'call.status').map((body) => body['event_type'])
  t.same(statuses.sort(), ['call.completed', 'call.in_progress'])
  const custom = { word: 'hello', kind: 'hello', times: 1, loud: true, other: null }
  const reports = ofType(receiver, 'call.report').sort((a, b) => Number(a['version']) - Number(b['version']))
  const last = reports.at(-1)
  t.match(last, { summary: answer.summary, custom_data: custom, analysis: { status: 'completed', provider: 'main' } })
  t.match(last, { artifacts: { recording: { status: 'ready' } } })
  t.match(ofType(receiver, 'call.analysis'), [{ summary: answer.summary, custom_data: custom }])
  const [recorded] = ofType(receiver, 'call.recording')
  t.match(recorded, { recording: { status: 'ready' } })
  for (const url of [recorded?.['recording_url'], last?.['recording_url']]) {
    t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/recordings\//)
    const life = Number(new URL(String(url)).searchParams.get('expires')) - Date.now() / 1000
    t.ok(life > 604_700 && life <= 604_800, 'seven days')
    const audio = await fetch(String(url))
    t.equal(audio.status, 200)
    t.equal(audio.headers.get('content-type'), 'audio/wav')
    await audio.body?.cancel()
  }
  const report = async () => (await call(acme, 'GET', `/v1/calls/${page.id}/report`)).json<Body>()
  // The receiver has an attempt a moment before the attempt is stored.
  await until('its delivery is stored', async () => (await report())['post_call_webhook_status'] === 'delivered')
  t.match(await report(), {
    version: last?.['version'],
    custom_data: custom,
    post_call_webhook_status: 'delivered',
    post_call_webhook_attempts: 1,
    post_call_webhook_next_retry_at: null,
    post_call_webhook_delivered_at: /^20/,
    post_call_webhook_error: null,
    webhook_deliveries: [{ endpointId, delivered: true, status: 204, error: null }],
  })
  const [delivery] = (await report())['webhook_deliveries'] as Body[]
  const { deliveryId, eventId, createdAt, ...others } = delivery ?? {}
  t.same(others, { endpointId, delivered: true, status: 204, error: null }, 'and nothing else')
  t.equal(eventId, receiver.received.find((one) => bodyOf(one)['version'] === last?.['version'])?.headers['webhook-id'])
  t.match([deliveryId, createdAt], [/^[0-9a-f-]{36}$/, /^20.*Z$/])
  const log = (await call(acme, 'GET', `/v1/webhook-deliveries?sessionId=${page.id}`)).json<{ data: Body[] }>()
  t.same(
    log.data.filter(({ event }) => event === 'call.pre_call').map(({ status, attempts }) => [status, attempts]),
    [['succeeded', 1]],
    'the event before the call is logged as a delivery of one attempt',
  )
})

t.test('finalizeCallReport resends a call report that was not delivered', async (t) => {
  const acme = await admin.organization('retried')
  let isUp = false
  const receiver = await startReceiver((response) => response.writeHead(isUp ? 204 : 503).end())
  t.teardown(() => receiver.close())
  await register(acme, receiver.url, { events: ['call.report'] })
  const other = await startReceiver(ok)
  t.teardown(() => other.close())
  await register(acme, other.url, { events: ['call.report'] })
  const page = await Page.join(acme, { constraints, recording: false })
  page.send({ type: 'end' })
  const path = `/v1/calls/${page.id}/report`
  const report = async () => (await call(acme, 'GET', path)).json<Body & { webhook_deliveries: Body[] }>()
  await until('a failed attempt', () => receiver.received.length > 0 && other.received.length > 0)
  await until('its end', async () => Number((await report())['post_call_webhook_attempts']) === 2)
  t.match(await report(), {
    post_call_webhook_status: 'pending',
    post_call_webhook_next_retry_at: /^20/,
    post_call_webhook_delivered_at: null,
    post_call_webhook_error: 'http_status',
  })
  const failed = await sql(
    `update webhook_deliveries set status = 'failed', failures = 8 where call_id = '${page.id}' and delivered_at is null`,
  )
  t.equal(failed, 1)
  t.match(await report(), { post_call_webhook_status: 'failed', post_call_webhook_next_retry_at: null })
  const [eventId] = receiver.received.map(({ headers }) => headers['webhook-id'])
  isUp = true
  const finalized = await call(acme, 'POST', `${path}/finalize`, { retryWebhook: true })
  t.match(finalized.json(), { webhook: { endpoints: 2 }, webhook_deliveries: [{ eventId }, { eventId }] })
  await until('the report', async () => (await report())['post_call_webhook_status'] === 'delivered')
  t.same(
    new Set(receiver.received.map(({ headers }) => headers['webhook-id'])),
    new Set([eventId]),
    'the same webhook-id',
  )
  t.equal(new Set(receiver.received.map(({ body }) => body.toString())).size, 1, 'and the same bytes')
  t.equal(other.received.length, 1, 'an endpoint that has it gets no other')
  const again = await call(acme, 'POST', `${path}/finalize`, { retryWebhook: true })
  t.match(again.json(), { webhook: { status: 'delivered', attempts: 3, endpoints: 2 } })
})

t.test('a call without matching endpoints creates no deliveries', async (t) => {
  const acme = await admin.organization('nobody')
  const page = await Page.join(acme, { constraints, recording: false })
  page.send({ type: 'end' })
  const path = `/v1/calls/${page.id}/report`
  await until('the report', async () => (await call(acme, 'GET', path)).status === 200)
  t.match((await call(acme, 'GET', path)).json(), {
    post_call_webhook_status: 'not_configured',
    post_call_webhook_attempts: 0,
    webhook_deliveries: [],
  })
  t.match((await call(acme, 'POST', `${path}/finalize`, { retryWebhook: true })).json(), {
    webhook: { status: 'not_configured', attempts: 0, endpoints: 0 },
  })
})

/** Changes rows in the server's database. Resolves with the number of changed rows. */
async function sql(statement: string): Promise<number> {
  const connection = connectOnce({ databaseUrl: parley.databaseUrl }, 'a test')
  try {
    return await connection.begin(async (tx) => {
      await tx`select set_config('app.organization', '*', true), set_config('app.world', '*', true)`
      return (await tx.unsafe(statement)).count
    })
  } finally {
    await connection.end({ timeout: 1 })
  }
}
