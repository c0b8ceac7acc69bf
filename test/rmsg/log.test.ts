/**
 * Tests the delivery log for rich-message events: its fields, its filters, the stored part of an answer, and deletion
 * after 30 days.
 */
import t from 'tap'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { insertMessage, masterKey, outboundEvent, postEvent, receivedEvent } from './provider-events.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  PARLEY_MASTER_KEY: masterKey,
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Item = { id: string; eventId: string; endpointName: string; [field: string]: unknown }
type Option = { id: string; name: string; kind: string; deleted: boolean }
type Page = { data: Item[]; endpointOptions: Option[] }
const webhook = '/v1/rmsg-phone-numbers/webhook'
const signingSecret = 'a secret of the subscription'

let last = 500
/** Makes an organization with a number, and a subscription whose receiver answers with this text. */
async function withSubscription(name: string, text: string, status = 200) {
  const { id, ...acme } = await admin.organization(name, { scopes: ['platform', 'rmsg'] })
  await admin.store.organizations.change(id, { rmsgEnabled: true })
  last += 1
  const e164 = `+15005550${last}`
  const number = { id: await insertRmsgNumber(sql, { e164, organizationId: id }), organizationId: id }
  const receiver: Receiver = await startReceiver((response) => response.writeHead(status).end(text))
  t.teardown(() => receiver.close())
  const subscribed = await call(acme, 'PUT', webhook, { url: receiver.url, signingSecret })
  const subscription = subscribed.json<{ id: string }>().id
  const log = async (query = '') => (await call(acme, 'GET', `/v1/webhook-deliveries${query}`)).json<Page>()
  return { acme, number, identity: `identity-${e164}`, receiver, subscription, log }
}

t.test('the delivery log shows each field of a delivery, and the tags of its message', async (t) => {
  const { acme, number, identity, receiver, subscription, log } = await withSubscription('fields', 'fine')
  const tags = { team: 'shop', order: '4711' }
  const message = await insertMessage(sql, number, tags)
  const event = outboundEvent(identity, message, { type: 'rmsg.delivered', status: 'delivered', service: 'sms' })
  t.equal(await postEvent(parley.url, event), 200)
  const received = receivedEvent(identity, 'Hello')
  t.equal(await postEvent(parley.url, received), 200)
  const [newest, item] = (await log()).data as [Item, Item]
  const time = /^\d{4}-.*Z$/
  const expected = {
    ...{ eventId: event.id, endpointId: subscription, endpointName: receiver.url, endpointKind: 'rmsg' },
    ...{ endpointDeleted: false, event: 'rmsg.delivered', sessionId: null, sessionStored: false },
    ...{ agentId: null, webhookTags: tags },
    ...{ status: 'succeeded', attempts: 1, httpStatus: 200, error: null, canRedeliver: false },
  }
  const { id, occurredAt, expiresAt, deliveredAt, createdAt, ...others } = item
  t.same(others, expected)
  for (const at of [occurredAt, expiresAt, deliveredAt, createdAt]) t.match(at, time)
  t.same([newest.eventId, newest['webhookTags']], [received.id, {}], 'a message that comes in has no tags')
  const whole = (await call(acme, 'GET', `/v1/webhook-deliveries/${id}`)).json<Record<string, unknown>>()
  const { attempts, attemptCount, requestPayload, ...same } = whole as {
    attempts: Record<string, unknown>[]
    attemptCount: number
    requestPayload: object
  }
  t.same({ ...same, attempts: 1 }, item)
  t.equal(attemptCount, 1)
  t.same(requestPayload, JSON.parse(event.body.toString()))
  const [attempt] = attempts
  t.match(attempt, {
    ...{ attemptNumber: 1, trigger: 'automatic', requestUrl: receiver.url, requestBody: event.body.toString() },
    ...{ responseStatus: 200, responseBody: 'fine', responseTruncated: false, error: null },
    durationMs: Number,
    createdAt: time,
  })
  t.notMatch(JSON.stringify(whole), signingSecret)
  t.notMatch(JSON.stringify(whole), Buffer.from(signingSecret).toString('base64'))
  t.equal((attempt?.['requestHeaders'] as Record<string, string>)['webhook-id'], event.id)
  t.same(faultOf(await call(acme, 'POST', `/v1/webhook-deliveries/${id}/redeliver`)), {
    status: 409,
    code: 'REDELIVERY_UNAVAILABLE',
  })
})

t.test('the delivery log can be filtered by subscription, event, status and id', async (t) => {
  const { number, identity, subscription, log } = await withSubscription('searched', 'no', 500)
  const message = await insertMessage(sql, number, {})
  const event = outboundEvent(identity, message, { type: 'rmsg.sent', status: 'sent', service: 'rmsg' })
  t.equal(await postEvent(parley.url, event), 502)
  t.equal(await postEvent(parley.url, event), 502)
  for (const [query, count] of [
    [`endpointId=${subscription}`, 1],
    ['endpointId=019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a90', 0],
    ['event=rmsg.sent', 1],
    ['event=rmsg.received', 0],
    ['status=failed', 1],
    ['status=succeeded', 0],
    [`eventId=${event.id}`, 1],
    ['eventId=evt_nobody', 0],
  ] as const)
    t.equal((await log(`?${query}`)).data.length, count, query)
  t.match((await log()).data, [{ attempts: 2, httpStatus: 500, error: 'http_status', deliveredAt: null }])
})

t.test("the delivery log stores at most 4,096 bytes of a subscriber's response", async (t) => {
  for (const [length, truncated] of [
    [4096, false],
    [4097, true],
  ] as const) {
    const { acme, identity, log } = await withSubscription(`answers ${length}`, 'x'.repeat(length))
    t.equal(await postEvent(parley.url, receivedEvent(identity, 'Hello')), 200)
    const [item] = (await log()).data
    const whole = (await call(acme, 'GET', `/v1/webhook-deliveries/${item?.id}`)).json<{ attempts: object[] }>()
    t.match(whole.attempts, [{ responseBody: 'x'.repeat(4096), responseTruncated: truncated }])
  }
})

t.test('a deleted subscription stays in the delivery log, beside a new subscription with the same URL', async (t) => {
  const { acme, identity, receiver, subscription, log } = await withSubscription('deleted', '')
  t.equal(await postEvent(parley.url, receivedEvent(identity, 'Hello')), 200)
  const url = receiver.url
  t.same((await log()).endpointOptions, [{ id: subscription, name: url, kind: 'rmsg', deleted: false }])
  await call(acme, 'DELETE', `${webhook}/${subscription}`)
  const { data, endpointOptions } = await log()
  t.match(data, [{ endpointDeleted: true, endpointName: url, endpointKind: 'rmsg', status: 'succeeded' }])
  t.same(endpointOptions, [{ id: subscription, name: url, kind: 'rmsg', deleted: true }])
  const again = (await call(acme, 'PUT', webhook, { url })).json<{ id: string }>().id
  const endpoint = { name: 'Of calls', url: 'https://shop.example/', events: ['call.report'], allAgents: true }
  const workspace = (await call(acme, 'POST', '/v1/webhooks', endpoint)).json<{ id: string }>().id
  const byId = (one: Option, other: Option) => one.id.localeCompare(other.id)
  t.same((await log()).endpointOptions.sort(byId), [
    { id: subscription, name: url, kind: 'rmsg', deleted: true },
    { id: again, name: url, kind: 'rmsg', deleted: false },
    { id: workspace, name: 'Of calls', kind: 'workspace', deleted: false },
  ])
})

t.test('a delivery is deleted after 30 days', async (t) => {
  const { acme, identity, log } = await withSubscription('old', '')
  const events = [receivedEvent(identity, 'Old'), receivedEvent(identity, 'Younger')] as const
  for (const event of events) t.equal(await postEvent(parley.url, event), 200)
  const [younger, old] = (await log()).data as [Item, Item]
  for (const [item, days] of [
    [old, 31],
    [younger, 29],
  ] as const) {
    const before = sql`now() - ${days} * interval '1 day'`
    await sql`update webhook_events set created_at = ${before} where provider_event_id = ${item.eventId}`
    await sql`update webhook_deliveries set created_at = ${before} where id = ${item.id}`
  }
  t.same(
    (await log()).data.map(({ id }) => id),
    [younger.id],
    'it is not shown, also before it is deleted',
  )
  t.equal((await call(acme, 'GET', `/v1/webhook-deliveries/${old.id}`)).status, 404)
  await admin.store.webhookDeliveries.purge()
  for (const [item, count] of [
    [old, 0],
    [younger, 1],
  ] as const) {
    t.equal((await sql`select from webhook_events where provider_event_id = ${item.eventId}`).length, count)
    t.equal((await sql`select from webhook_deliveries where id = ${item.id}`).length, count)
    t.equal((await sql`select from webhook_attempts where delivery_id = ${item.id}`).length, count)
  }
})
