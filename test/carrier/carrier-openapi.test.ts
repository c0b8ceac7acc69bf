/**
 * The adapters run against a mock, made from the carrier's OpenAPI document, which checks each request on arrival. The
 * adapters also read the document's events. `make test-all LANE=carrier` says where the document comes from.
 */
import t, { type Test } from 'tap'
import { RichMessageError } from '../../domain/ports/rich-messages.ts'
import { legEventOf } from '../../providers/telnyx/leg-events.ts'
import { createTelnyxMessageWebhooks } from '../../providers/telnyx/rich-message-webhooks.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { carrierLegId, everyCommand, message, openAdapters, plainLeg, ref } from './carrier-api.ts'
import { lackingOperations } from './lacking-operations.ts'
import { messageKey, signedMessage } from './message-events.ts'
import { type Json, lookUp, readDocument, withoutDocument } from './openapi-document.ts'
import { apiKey, serveDocument } from './openapi-mock.ts'
import { legId } from './setup.ts'
import { brandProfile, campaignProfile } from './sms-profiles.ts'

const skip = withoutDocument
const { signal } = new AbortController()
/** Our type for each event in the document. Null: the event does not concern a leg, so the adapter drops it. */
const events: Readonly<Record<string, string | null>> = {
  callInitiated: 'initiated',
  callAnswered: 'answered',
  callBridged: 'bridged',
  callHangup: 'hangup',
  callDtmfReceived: 'dtmf',
  callMachineDetectionEnded: 'machine_detection',
  callStreamingStarted: 'stream_started',
  callStreamingStopped: 'stream_stopped',
  callStreamingFailed: 'stream_failed',
  callGatherEnded: null,
  callRecordingSaved: null,
  inboundMessage: null,
}

/** Starts the mock and the adapters, and records the called adapter methods. */
async function serve(t: Test) {
  const mock = await serveDocument(t, readDocument())
  const called = new Set<string>()
  const { line, numbers, registry, messages } = openAdapters(t, { baseUrl: mock.baseUrl })
  const noted = <T extends object>(name: string, adapter: T): T =>
    new Proxy(adapter, {
      get(target, key, receiver) {
        called.add(`${name}.${String(key)}`)
        return Reflect.get(target, key, receiver) as unknown
      },
    })
  /** Returns the names of the adapter's methods that this test has not called. */
  const unasked = (name: string, adapter: object) =>
    Object.keys(adapter).filter((key) => !['name', 'close'].includes(key) && !called.has(`${name}.${key}`))
  return {
    mock,
    line: noted('line', line),
    numbers: noted('numbers', numbers),
    registry: noted('registry', registry),
    messages: noted('messages', messages),
    unasked: () => Object.entries({ line, numbers, registry, messages }).flatMap(([name, one]) => unasked(name, one)),
  }
}

type World = Awaited<ReturnType<typeof serve>>

t.test('requests to the carrier match its OpenAPI document, and its responses are parsed', { skip }, async (t) => {
  const world = await serve(t)
  await calls(t, world)
  await numbers(t, world)
  await richMessages(t, world)
  await registration(t, world)
  const { mock } = world
  t.same(mock.faults, [], 'requests that do not fit')
  t.same(world.unasked(), [], 'methods without a request')
  t.ok(mock.answered.size >= 29, [...mock.answered].sort().join('; '))
  const missing = mock.lacking.filter(({ method, path }) => !mock.answered.has(`${method} ${path} 200`))
  t.same(missing, [], 'operations that the document lacks, and no adapter asks for')
  const isWhole = mock.lacking.length === 0
  const stale = isWhole ? [] : lackingOperations.filter((operation) => !mock.lacking.includes(operation))
  t.same(stale, [], 'operations that are listed as lacking, and are in the document')
})

async function calls(t: Test, { line }: World): Promise<void> {
  await everyCommand({ line, answers: () => {} })
  t.same(await line.dial(plainLeg, signal), { carrierLegId: carrierLegId.replace(/=+$/, '') }, 'the id of the leg')
  t.type(await line.isAlive(ref), 'boolean')
  t.equal(await line.find(legId), null)
}

async function numbers(t: Test, { numbers }: World): Promise<void> {
  const offer = {
    e164: '+19705555098',
    upfrontMicroUsd: 3_210_000,
    monthlyMicroUsd: 6_540_000,
    region: { state: null, locality: null, rateCenter: null },
  }
  t.match(await numbers.search({ areaCode: '212', locality: 'New York', limit: 10 }), [offer])
  t.match(await numbers.offerOf('+19705555098'), offer)
  t.equal(await numbers.offerOf('+12125550100'), null, 'the offer of another number')
  t.equal(await numbers.resourceIdOf('+19705555098'), '1293384261075731499')
  const id = '12ade33a-21c0-473b-b055-b3c836e1c292'
  t.match(await numbers.order('+19705555098', 'pn_1'), { id, status: /^(pending|done)$/ })
  t.match(await numbers.findOrder({ id: null, reference: 'pn_1' }), { id, status: /^(pending|done)$/ })
  t.match(await numbers.findOrder({ id, reference: 'pn_1' }), { id })
  await numbers.release('1293384261075731499')
}

async function richMessages(t: Test, { messages }: World): Promise<void> {
  await messages.send(message)
  await messages.send({ ...message, smsFrom: null })
  t.equal(await messages.has(message.providerIdentity), true)
}

async function registration(t: Test, { registry, mock }: World): Promise<void> {
  const brand = { id: '4b20017f-8da9-a992-a6c0-683072fb7729', status: 'OK', identityStatus: 'VERIFIED' }
  t.match(await registry.createBrand(brandProfile), brand)
  await registry.createBrand({ ...brandProfile, entityType: 'SOLE_PROPRIETOR', ein: null })
  t.match(await registry.updateBrand('b1', { ...brandProfile, entityType: 'PUBLIC_PROFIT' }), brand)
  t.match(await registry.findBrand('b1'), brand)
  t.same(await registry.findBrandsLike(brandProfile, 0), [], 'the brand of the answer has other names')
  await registry.orderVetting('b1', 'AEGIS', 'STANDARD')
  t.equal(await registry.findVetting('b1', 'STANDARD'), null, 'the vetting of the answer has another class')
  const campaign = { id: '823d6b1a-6ed6-41a3-9c50-c8ff41b682ba', status: /^[A-Z_]+$/ }
  const samples = ['One.', 'Two.', 'Three.', 'Four.', 'Five.']
  t.match(await registry.createCampaign('b1', campaignProfile, 'r1'), campaign)
  await registry.createCampaign('b1', { ...campaignProfile, sampleMessages: samples, optInMessage: null }, 'r2')
  t.match(await registry.findCampaignByReference('b1', 'r1'), campaign)
  t.equal(await registry.findCampaignByReference('b1', 'r9'), null)
  t.match(await registry.findCampaign('c1'), campaign)
  const assigned = { campaignId: 'string', status: 'ASSIGNED' }
  t.match(await registry.findAssignment('+12125550100'), assigned)
  t.match(await registry.assign('+12125550100', 'c2'), assigned, 'moved')
  mock.answersNext(404)
  t.match(await registry.assign('+12125550100', 'c1'), assigned, 'added')
  t.match(await registry.unassign('+12125550100'), assigned)
}

t.test('error responses in the form of the OpenAPI document are classified by kind', { skip }, async (t) => {
  const { mock, line, numbers, registry, messages } = await serve(t)
  const refusedBy = async (status: number, work: () => Promise<unknown>) => {
    mock.answersNext(status)
    return work().catch((error: unknown) => error)
  }
  const dial = () => line.dial(plainLeg, signal)
  for (const [status, kind] of [
    [400, 'refused'],
    [422, 'refused'],
    [500, 'unreachable'],
    [503, 'unreachable'],
  ] as const) {
    t.ok(mock.statusesOf('post', '/calls').includes(String(status)))
    t.match(await refusedBy(status, dial), { name: 'PhoneLineError', kind }, `dial ${status}`)
  }
  t.match(await refusedBy(401, () => numbers.search({ areaCode: null, locality: null, limit: 1 })), {
    failure: 'failed',
  })
  t.match(await refusedBy(422, () => numbers.order('+12125550100', 'pn_1')), { failure: 'failed' })
  t.match(await refusedBy(404, () => registry.findBrand('b1')), { isUnknown: true })
  t.match(await refusedBy(422, () => registry.createBrand(brandProfile)), { reviewErrors: [{ message: 'string' }] })
  const refused = await refusedBy(400, () => messages.send(message))
  t.match(refused, { status: 400, mayBeSent: false })
  t.ok(refused instanceof RichMessageError)
  t.same(mock.faults, [])
})

t.test('the mock refuses requests that the OpenAPI document does not allow', { skip }, async (t) => {
  const { baseUrl, faults } = await serveDocument(t, readDocument())
  const call = { connection_id: 'c', from: '+18005550101', to: '+15005550006' }
  const number = '/available_phone_numbers?filter'
  const authorization = `Bearer ${apiKey}`
  const type = { 'content-type': 'application/json' }
  const cases: [why: string, method: string, path: string, body: object | null, headers?: object, status?: number][] = [
    ['no number that calls', 'POST', '/calls', { ...call, from: undefined }],
    ['a word that is none of the list', 'POST', '/calls', { ...call, stream_track: 'all' }],
    ['a text for a number', 'POST', '/calls', { ...call, timeout_secs: 'x' }],
    ['a field that is not read', 'POST', '/calls', { ...call, timeout_seconds: 30 }],
    ['a field deep inside that is not read', 'POST', '/calls', { ...call, custom_headers: [{ name: 'X', text: 'x' }] }],
    ['no body', 'POST', '/calls', null],
    ['a form', 'POST', '/calls', call, { 'content-type': 'text/plain' }],
    ['an unknown command', 'POST', '/calls/v3%3A1/actions/whistle', {}],
    ['another method', 'PUT', '/calls', call],
    ['a filter that is none', 'GET', `${number}[town]=Denver`, null],
    ['a text for a limit', 'GET', `${number}[limit]=many`, null],
    ['an unknown parameter', 'GET', '/phone_numbers?number=1', null],
    ['an entity that is none', 'POST', '/10dlc/brand', { entityType: 'PERSON', displayName: 'A', country: 'US' }],
    ['a message without its agent', 'POST', '/messages/rcs', { to: '+13125551234', type: 'RCS' }],
    ['no key', 'POST', '/calls', call, { authorization: '' }, 401],
  ]
  for (const [why, method, path, body, headers = {}, status = 422] of cases) {
    const sent = {
      ...(body && { body: JSON.stringify(body) }),
      headers: { authorization, ...(body && type), ...headers },
    }
    t.equal((await fetch(baseUrl + path, { method, ...sent })).status, status, why)
  }
  t.equal(faults.length, cases.length - 1)
})

t.test("events in the form of the carrier's OpenAPI document are parsed", { skip }, (t) => {
  const document = readDocument()
  const sampleOf = (name: string) => {
    const body = resolved(document, lookUp(document, ['webhooks', name, 'post', 'requestBody']))
    const schema = lookUp(body, ['content', 'application/json', 'schema'])
    return (exampleOf(document, schema) as { data: Json }).data
  }
  for (const [name, type] of Object.entries(events)) {
    const event = legEventOf(sampleOf(name))
    t.equal(event?.type ?? null, type, name)
    if (event === null) continue
    t.match(event, { carrierLegId: /^[\w:-]{30,}$/, legId: null }, 'the state is not one of ours')
    t.ok(event.occurredAtMs > 1_500_000_000_000)
  }
  const hangup = sampleOf('callHangup')
  const { payload } = lookUp(document, ['components', 'schemas', 'CallHangup', 'properties']) as {
    payload: { properties: { hangup_cause: { enum: string[] } } }
  }
  const causes = payload.properties.hangup_cause.enum
  t.ok(causes.length > 5)
  for (const cause of causes)
    t.match(
      legEventOf({ ...hangup, payload: { ...(hangup['payload'] as Json), hangup_cause: cause } }),
      { cause },
      cause,
    )
  t.end()
})

t.test("events of text messages in the form of the carrier's OpenAPI document are parsed", { skip }, (t) => {
  const document = readDocument()
  const reader = createTelnyxMessageWebhooks({ publicKey: messageKey.publicKey, clock: systemClock })
  const sampleOf = (schema: string) =>
    structuredClone(lookUp(document, ['components', 'schemas', schema, 'example'])) as Json & {
      payload: { to: Json[]; [name: string]: unknown }
    }
  const read = (data: Json) => reader.read(...signedMessage({ data }), null)
  t.match(read(sampleOf('InboundMessage')), { type: 'rmsg.received', report: null })
  const { enum: statuses } = lookUp(document, [
    ...['components', 'schemas', 'OutboundMessagePayload', 'properties', 'to', 'items', 'properties', 'status'],
  ]) as { enum: string[] }
  const early = ['queued', 'sending']
  for (const status of statuses) {
    const sample = sampleOf('OutboundMessage')
    Object.assign(sample.payload.to[0] ?? {}, { status })
    const event = read(sample)
    if (early.includes(status)) t.equal(event, 'other', status)
    else t.match(event, { remoteNumber: /^\+1866555/, report: { service: 'sms' } }, status)
  }
  t.ok(statuses.length >= 8)
  t.end()
})

function resolved(document: Json, schema: unknown): Json {
  const { $ref } = schema as { $ref?: string }
  return $ref === undefined ? (schema as Json) : resolved(document, lookUp(document, $ref.slice(2).split('/')))
}

function propertiesOf(document: Json, schema: unknown): Json {
  const { properties = {}, allOf = [] } = resolved(document, schema) as { properties?: Json; allOf?: unknown[] }
  return allOf.reduce<Json>((all, part) => ({ ...all, ...propertiesOf(document, part) }), properties)
}

/** Makes a value from a schema's examples. */
function exampleOf(document: Json, schema: unknown): unknown {
  const { example, enum: values, type } = resolved(document, schema)
  const properties = Object.entries(propertiesOf(document, schema))
  if (properties.length > 0)
    return Object.fromEntries(properties.map(([name, inner]) => [name, exampleOf(document, inner)]))
  return example ?? (values as unknown[] | undefined)?.[0] ?? (type === 'array' ? [] : null)
}
