/** The pre-call webhook, with real receivers: the effect of each response on the session. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import type { Endpoint } from '../../domain/records/webhook-endpoint.ts'
import { createPreCall, type PreCallDeps } from '../../domain/sessions/pre-call-webhook.ts'
import { eventPayloads } from '../../handlers/platform/event-payloads.ts'
import { preCallAnswers } from '../../handlers/platform/pre-call-answers.ts'
import { newCall } from '../calls/call.ts'
import { TestClock } from '../clock.ts'
import { call, openAdministration } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { loopbackProviders } from '../session/voice-session.ts'
import { silent } from '../store/cluster.ts'
import { serverInTime } from '../time/server.ts'
import { startReceiver } from './receiver.ts'

// Time stands still unless a test concerns a time-out, so an endpoint's time-out does not depend on the machine's
// speed.
const server = await serverInTime(t, {
  PARLEY_PROVIDERS: loopbackProviders,
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
})
const admin = await openAdministration(server)
t.teardown(() => admin.close())
let respond: (response: ServerResponse) => void = (response) => response.writeHead(204).end()
const receiver = await startReceiver((response) => respond(response))
t.teardown(() => receiver.close())

const json = (body: unknown, status = 200) => answerWith(JSON.stringify(body), status)
const answerWith =
  (body: string | Buffer, status = 200, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end(body)

type Session = {
  sessionId: string
  metadata: Record<string, unknown>
  pipelineConfig: {
    systemPrompt: string
    firstMessage: string | null
    voice: string | null
    llm: { temperature: number | null; maxTokens: number }
    tools: { name: string; kind: string }[]
  }
}
type PreCallEvent = { event_type: string; status: string; payload: { result: string; issues: { path: string }[] } }

const loopback = { stt: ['loopback'], llm: ['loopback'], tts: ['loopback'] }
const own = {
  intent: { language: 'en' },
  constraints: { allowedProviders: loopback },
  systemPrompt: 'of the request',
  firstMessage: 'Hello',
  metadata: { a: 1, b: 1 },
}

async function register(target: Target, more: object = {}): Promise<string> {
  const body = { name: 'before', url: receiver.url, events: ['call.pre_call'], ...more }
  const made = await call(target, 'POST', '/v1/webhooks', body)
  if (made.status !== 201) throw new Error(made.text)
  return made.json<{ id: string }>().id
}

async function start(
  target: Target,
  more: object = {},
): Promise<{ session: Session; event: PreCallEvent | undefined }> {
  const made = await call(target, 'POST', '/v1/sessions', { ...own, ...more })
  if (made.status !== 201) throw new Error(made.text)
  const { sessionId } = made.json<{ sessionId: string }>()
  const session = (await call(target, 'GET', `/v1/sessions/${sessionId}`)).json<Session>()
  const { events } = (await call(target, 'GET', `/v1/calls/${sessionId}/events`)).json<{ events: PreCallEvent[] }>()
  return { session, event: events.find(({ event_type }) => event_type === 'webhook.pre_call') }
}

const acme = await admin.organization('asks before')
await register(acme, { timeoutMs: 1000 })

t.test("a pre-call webhook's response changes the session, and the last of repeated overrides wins", async (t) => {
  respond = json({
    pipelineConfig: { systemPrompt: 'first', firstMessage: 'first', llm: { temperature: 0.1 } },
    pipeline_config: { firstMessage: 'second', llm: { maxTokens: 7 } },
    firstMessage: 'third',
    constraints: { allowedProviders: { llm: ['local'] } },
    metadata: { b: 2, c: { d: null } },
    tools: [
      { name: 'find', description: 'Finds.', source: { kind: 'webhook', url: receiver.url, secret: 'k4n4ry-secret' } },
    ],
    unknown: { field: true },
  })
  const { session, event } = await start(acme)
  t.same(event?.payload.issues, [])
  t.match(session.pipelineConfig, {
    systemPrompt: 'first',
    firstMessage: 'third',
    llm: { temperature: null, maxTokens: 7 },
    tools: [{ name: 'find', kind: 'webhook' }],
  })
  t.same(session.metadata, { a: 1, b: 2, c: { d: null } })
  t.match(event, { status: 'queued', payload: { result: 'applied', issues: [], duration_ms: Number } })
  const sent = receiver.received.at(-1)
  t.match(JSON.parse(sent?.body.toString() ?? ''), {
    type: 'call.pre_call',
    call_id: session.sessionId,
    direction: 'browser',
    to: null,
    from: null,
    dialed_number: null,
    forwarded_from_number: null,
    phone_number_id: null,
    call_control_id: null,
    metadata: { a: 1, b: 1 },
    pipeline_config: { systemPrompt: 'of the request', firstMessage: 'Hello' },
  })
  t.match(sent?.headers['webhook-signature'], /^v1,/)
  const log = await call(acme, 'GET', `/v1/webhook-deliveries?sessionId=${session.sessionId}`)
  t.match(log.json(), {
    data: [{ event: 'call.pre_call', status: 'succeeded', attempts: 1, httpStatus: 200, canRedeliver: false }],
  })
  const [{ id } = { id: '' }] = log.json<{ data: { id: string }[] }>().data
  const detail = await call(acme, 'GET', `/v1/webhook-deliveries/${id}`)
  t.equal(detail.status, 200)
  t.notMatch(detail.text, 'k4n4ry', 'the secret of a tool is in no log')
})

const inline = (name: string) => ({ name, description: 'b', source: { kind: 'inline' } })
const bytes = (size: number) => `{"x":"${'y'.repeat(size - 8)}"}`
const cases: [title: string, answer: (response: ServerResponse) => void, result: string, paths?: string[]][] = [
  ['204', answerWith('', 204), 'empty'],
  ['an empty body', answerWith(''), 'empty'],
  ['blanks', answerWith(' \n'), 'empty'],
  ['an object without a known field', json({ x: 1 }), 'empty'],
  ['a body without a type', answerWith('{"firstMessage":"Hi"}', 201, { 'content-type': 'text/plain' }), 'applied'],
  ['256 KiB', answerWith(bytes(262_144)), 'empty'],
  ['more than 256 KiB', answerWith(bytes(262_145)), 'invalid', ['']],
  ['an error', json({ firstMessage: 'Hi' }, 500), 'http_error'],
  ['a redirect', answerWith('{"firstMessage":"Hi"}', 307, { location: receiver.url }), 'http_error'],
  ['a broken connection', (response) => void response.destroy(), 'http_error'],
  ['no answer', () => {}, 'timeout'],
  ['half an answer', (response) => void response.writeHead(200).write('{"first'), 'timeout'],
  ['bad JSON', answerWith('{"firstMessage":'), 'invalid', ['']],
  ['bad UTF-8', answerWith(Buffer.from([0x7b, 0xff, 0x7d])), 'invalid', ['']],
  ['null', json(null), 'invalid', ['']],
  ['a list', json([{ firstMessage: 'Hi' }]), 'invalid', ['']],
  [
    'a wrong field beside a good one',
    json({ firstMessage: 'Hi', llm: { temperature: 3 } }),
    'invalid',
    ['/llm/temperature'],
  ],
  [
    'a wrong field below a place that loses',
    json({ pipelineConfig: { voice: 4 }, voice: null }),
    'invalid',
    ['/pipelineConfig/voice'],
  ],
  ['an unknown field inside of a setting', json({ llm: { top: 1 } }), 'invalid', ['/llm/top']],
  ['a prompt that is too long', json({ systemPrompt: 'x'.repeat(65_537) }), 'invalid', ['/systemPrompt']],
  ['a broken template', json({ systemPrompt: 'Hi {{' }), 'invalid', ['/systemPrompt']],
  ['a variable that is missing', json({ systemPrompt: 'Hi {{name}}' }), 'invalid', ['/variables/name']],
  [
    'a provider that is not there',
    json({ constraints: { allowedProviders: { llm: ['nobody'] } } }),
    'invalid',
    ['/constraints/allowedProviders/llm/0'],
  ],
  ['metadata that is too large', json({ metadata: { x: 'x'.repeat(16_384) } }), 'invalid', ['/metadata']],
  [
    'a tool at a private address',
    json({ tools: [{ name: 'a', description: 'b', source: { kind: 'webhook', url: 'http://10.0.0.1/' } }] }),
    'invalid',
    ['/tools/0/source/url'],
  ],
  ['a tool that no allowed LLM can call', json({ tools: [inline('a')] }), 'invalid', ['']],
  [
    '65 tools',
    json({
      tools: Array.from({ length: 65 }, (_, at) => ({ name: `t${at}`, description: 'b', source: { kind: 'inline' } })),
    }),
    'invalid',
    ['/tools'],
  ],
]

for (const [title, answer, result, paths] of cases)
  t.test(`if the pre-call webhook's response is ${title}, its result is ${result}`, async (t) => {
    respond = answer
    const before = receiver.received.length
    const starting = start(acme)
    const { session, event } = await (result === 'timeout' ? server.clock.during(starting) : starting)
    t.equal(event?.payload.result, result)
    t.same(
      event?.payload.issues.map(({ path }) => path),
      paths ?? [],
    )
    t.equal(receiver.received.length, before + 1, 'it is sent once, and no redirect is followed')
    if (result !== 'applied')
      t.match(session, {
        metadata: own.metadata,
        pipelineConfig: { systemPrompt: 'of the request', firstMessage: 'Hello' },
      })
    const log = await call(acme, 'GET', `/v1/webhook-deliveries?sessionId=${session.sessionId}`)
    const isDelivered = ['empty', 'applied'].includes(result) || (result === 'invalid' && !title.startsWith('more'))
    t.match(log.json(), { data: [{ status: isDelivered ? 'succeeded' : 'failed', attempts: 1 }] })
  })

t.test('each override works at the top level, in pipelineConfig and in pipeline_config', async (t) => {
  const { constraints, ...settings } = {
    intent: { language: 'en-US', optimizeFor: 'cost' },
    constraints: { allowedProviders: { llm: ['local'] } },
    voice: 'nova',
    systemPrompt: 'of the answer',
    firstMessage: 'Hi.',
    llm: { temperature: 0.3 },
    ttsOptions: { sampleRate: 16_000 },
    sttOptions: { language: 'en' },
    backgroundAudio: { ambient: { clip: 'city-ambience', volume: 0.5 } },
    speechNormalization: { pronunciationDictionary: { SQL: 'sequel' }, textReplacements: { asap: 'soon' } },
    idleRePrompts: { enabled: true, delayMs: 3000, maxPrompts: 1, messages: ['Still there?'] },
  }
  const overrides = { ...settings, constraints, tools: [inline('find')], metadata: { c: 3 } }
  for (const answer of [overrides, { pipelineConfig: overrides }, { pipeline_config: overrides }]) {
    respond = json(answer)
    const { session, event } = await start(acme)
    t.same(event?.payload.issues, [])
    t.match(session.pipelineConfig, { ...settings, tools: [{ name: 'find', kind: 'inline' }] })
    t.match(session.pipelineConfig, { constraints: { allowedProviders: { ...loopback, llm: ['local'] } } })
    t.same(session.metadata, { ...own.metadata, c: 3 })
  }
})

t.test('a pre-call endpoint is asked only if its tags match and the session is accepted', async (t) => {
  respond = json({ firstMessage: 'Hi' })
  const other = await admin.organization('asks for tags')
  await register(other, { filterTags: { team: 'shop' } })
  const before = receiver.received.length
  t.equal((await start(other)).event, undefined)
  t.equal((await start(other, { webhookTags: { team: 'Shop' } })).event, undefined)
  const poor = await admin.organization('has no credit', { creditMicroUsd: 0 })
  await register(poor)
  t.equal((await call(poor, 'POST', '/v1/sessions', own)).status, 402)
  t.equal((await call(other, 'POST', '/v1/sessions', { ...own, webhookTags: { team: 'shop' }, voice: 4 })).status, 400)
  t.equal(receiver.received.length, before)
  t.equal((await start(other, { webhookTags: { team: 'shop', more: 'x' } })).event?.payload.result, 'applied')
})

t.test('if the pre-call receiver is down, the session starts without its answer', async (t) => {
  const closed = await startReceiver()
  await closed.close()
  const other = await admin.organization('is down')
  await register(other, { url: closed.url })
  t.match((await start(other)).event?.payload, { result: 'http_error', issues: [] })
})

t.test('the delivery log omits pre-call responses with tools, even if the key "tools" has JSON escapes', async (t) => {
  const tools = JSON.stringify([inline('k4n4ry')])
  const answers: [answer: (response: ServerResponse) => void, isShown: boolean][] = [
    [answerWith(`{"t\\u006fols": ${tools}}`), false],
    [answerWith(`{"data": {"tools": ${tools}}}`), false],
    [answerWith(`{"tools": ${tools}`), false],
    [answerWith(`{"tools": ${tools}}`, 500), false],
    [answerWith('{"firstMessage": "k4n4ry has \\"tools\\"."}'), true],
    [answerWith('k4n4ry', 500), true],
  ]
  const asker = await admin.organization('keeps a log')
  const endpoint = await register(asker)
  const bodyOf = async (deliveryId: string) => (await call(asker, 'GET', `/v1/webhook-deliveries/${deliveryId}`)).text
  for (const [answer, isShown] of answers) {
    respond = answer
    const { session } = await start(asker)
    const log = await call(asker, 'GET', `/v1/webhook-deliveries?sessionId=${session.sessionId}`)
    const [delivery] = log.json<{ data: { id: string }[] }>().data
    t.equal((await bodyOf(delivery?.id ?? '')).includes('k4n4ry'), isShown)
    const tried = await call(asker, 'POST', `/v1/webhooks/${endpoint}/test`, { event: 'call.pre_call' })
    t.equal((await bodyOf(tried.json<{ deliveryId: string }>().deliveryId)).includes('k4n4ry'), isShown, 'of a test')
  }
})

t.test('150 sessions that start at once each get a pre-call answer', async (t) => {
  const busy = await admin.organization('starts many')
  await register(busy)
  const waiting: ServerResponse[] = []
  const before = receiver.received.length
  respond = (response) => void waiting.push(response)
  const started = Array.from({ length: 150 }, () => start(busy))
  await until('as many are asked as there are connections', () => receiver.received.length - before >= 128)
  respond = json({ firstMessage: 'Hi' })
  for (const response of waiting) respond(response)
  for (const { event } of await Promise.all(started)) t.equal(event?.payload.result, 'applied')
})

t.test("the session waits for a pre-call answer until the endpoint's time-out, and 10 s at most", async (t) => {
  const waits: number[] = []
  let timeoutMs = 0
  const clock = new TestClock()
  const preCall = createPreCall({
    client: { post: () => Promise.resolve({ status: 204, body: Buffer.alloc(0), isCut: false }) },
    clock,
    deadline: (delayMs) => {
      waits.push(delayMs)
      return { signal: new AbortController().signal, end: () => {} }
    },
    attemptId: () => 'attempt',
    endpointOf: () => Promise.resolve({ id: 'endpoint', name: 'before' } as Endpoint),
    targets: {
      deliveryTarget: () => {
        const plain = { url: 'https://receiver.example/', headers: {}, authHeaders: {}, isDisabled: false }
        return Promise.resolve({ ...plain, timeoutMs, signingSecrets: ['s'] })
      },
    },
    deliveries: { record: () => Promise.reject(new Error('the store is away')) },
    payloads: eventPayloads,
    answers: preCallAnswers,
    eventId: () => 'event',
    log: silent,
  } satisfies PreCallDeps)
  for (timeoutMs of [1000, 9_999, 10_000, 10_001, 30_000])
    t.match(await preCall.ask(newCall('org_1')), { reply: { result: 'empty' } }, 'also where it cannot be logged')
  t.same(waits, [1000, 9_999, 10_000, 10_000, 10_000])
})
