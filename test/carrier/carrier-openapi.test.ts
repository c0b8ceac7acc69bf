/**
 * The adapter against the carrier's published OpenAPI: every command against the request schemas, and the events that
 * it reads as the document describes them. The document is not ours to publish: PARLEY_CARRIER_OPENAPI names a copy of it, or of a part.
 */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import t, { type Test } from 'tap'
import { legEventOf } from '../../providers/telnyx/leg-events.ts'
import { createTelnyxMessageWebhooks } from '../../providers/telnyx/rich-message-webhooks.ts'
import { systemClock } from '../../runtime/clock.ts'
import {
  type Command,
  everyCommand,
  everyMessage,
  everyNumberRequest,
  everyRegistryRequest,
  serveCarrier,
} from './carrier-api.ts'
import { messageKey, signedMessage } from './message-events.ts'

type Json = { [name: string]: unknown }

const file = process.env['PARLEY_CARRIER_OPENAPI']
const skip = file === undefined && 'the OpenAPI document of the carrier: PARLEY_CARRIER_OPENAPI=<file>'
/** Commands that a part of the document may lack. */
const mayLack = ['/calls/{call_control_id}/actions/reject', '/number_orders/{id}', '/phone_numbers/{id}']
/** The types that events have here; null for one that says nothing of a leg. */
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

t.test('commands fit the OpenAPI of the carrier', { skip }, async (t) => {
  const document = readDocument()
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addFormat('int32', true)
  ajv.addSchema(document, 'carrier')
  const carrier = await serveCarrier(t)
  await everyCommand(carrier)
  await everyNumberRequest(carrier)
  await everyMessage(carrier)
  await everyRegistryRequest(carrier)
  for (const command of carrier.commands) {
    const [whole = '', query = ''] = command.path.replace(/^\/v2/, '').split('?')
    const path = whole
      .replace(/^\/calls\/[^/]+/, '/calls/{call_control_id}')
      .replace(/^\/(number_orders|phone_numbers)\/[^/]+/, '/$1/{id}')
      .replace(/^\/10dlc\/(brand|campaign)\/[^/]+/, '/10dlc/$1/{$1Id}')
      .replace(/^\/10dlc\/phone_number_campaigns\/.+/, '/10dlc/phone_number_campaigns/{phoneNumber}')
    const method = command.method.toLowerCase()
    const operation = lookUp(document, ['paths', path, method]) as Json | undefined
    if (operation === undefined) t.ok(mayLack.includes(path), `${method} ${path} is in the document`)
    else {
      check(t, ajv, document, `${method} ${path}`, schemaPointer(document, ['paths', path, method]), command)
      checkFilters(t, document, operation, new URLSearchParams(query))
    }
  }
  t.ok(carrier.commands.length >= 34)
})

t.test('events as the OpenAPI of the carrier describes them', { skip }, (t) => {
  const document = readDocument()
  const sampleOf = (name: string) => {
    const schema = lookUp(document, schemaPointer(document, ['webhooks', name, 'post']) ?? [])
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

t.test('events of messages as the OpenAPI of the carrier describes them', { skip }, (t) => {
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

function check(t: Test, ajv: Ajv2020, document: Json, name: string, schema: string[] | null, { body }: Command): void {
  if (schema === null) return void t.same(body, {}, `${name} has no body`)
  const pointer = schema.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')
  const validate = ajv.compile({ $ref: `carrier#/${pointer}` })
  validate(body)
  t.same(validate.errors ?? [], [], name)
  // The schemas are open. A field that is not in them would be ignored in silence.
  const known = Object.keys(propertiesOf(document, lookUp(document, schema)))
  const unread = Object.keys(body).filter((field) => !known.includes(field))
  t.same(unread, [], `${name}: fields that the carrier does not read`)
}

/** Each parameter is a filter of the document: `filter[phone_number][ends_with]`. */
function checkFilters(t: Test, document: Json, operation: Json, query: URLSearchParams): void {
  const { parameters = [] } = operation as { parameters?: Json[] }
  const filter = parameters.map((each) => resolved(document, each)).find(({ name }) => name === 'filter')
  for (const [name, value] of query) {
    const keys = [...name.matchAll(/\[(\w+)\]/g)].flatMap(([, key]) => ['properties', key ?? ''])
    const schema = lookUp((filter?.['schema'] ?? {}) as Json, keys) as Json | undefined
    t.ok(schema, `${name} is a filter of the carrier`)
    if (schema?.['type'] === 'integer') t.match(value, /^\d+$/, name)
  }
}

function readDocument(): Json {
  return JSON.parse(readFileSync(file ?? '', 'utf8')) as Json
}

const lookUp = (document: Json, keys: readonly string[]): unknown =>
  keys.reduce<unknown>((value, key) => (value as Json | undefined)?.[key], document)

/** The place of the schema of an operation's body. Null: it has none. */
function schemaPointer(document: Json, operation: string[]): string[] | null {
  const body = [...operation, 'requestBody']
  if (lookUp(document, body) === undefined) return null
  return follow(document, [...follow(document, body), 'content', 'application/json', 'schema'])
}

function follow(document: Json, keys: string[]): string[] {
  const { $ref } = lookUp(document, keys) as { $ref?: string }
  return $ref === undefined ? keys : follow(document, $ref.slice(2).split('/'))
}

function resolved(document: Json, schema: unknown): Json {
  const { $ref } = schema as { $ref?: string }
  return $ref === undefined ? (schema as Json) : resolved(document, lookUp(document, $ref.slice(2).split('/')))
}

function propertiesOf(document: Json, schema: unknown): Json {
  const { properties = {}, allOf = [] } = resolved(document, schema) as { properties?: Json; allOf?: unknown[] }
  return allOf.reduce<Json>((all, part) => ({ ...all, ...propertiesOf(document, part) }), properties)
}

/** A value made of the examples of a schema. */
function exampleOf(document: Json, schema: unknown): unknown {
  const { example, enum: values, type } = resolved(document, schema)
  const properties = Object.entries(propertiesOf(document, schema))
  if (properties.length > 0)
    return Object.fromEntries(properties.map(([name, inner]) => [name, exampleOf(document, inner)]))
  return example ?? (values as unknown[] | undefined)?.[0] ?? (type === 'array' ? [] : null)
}
