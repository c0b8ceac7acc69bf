/**
 * Tests forwarded events: the fields of each kind, one rmsg.sent per message, ten seconds per subscription, and
 * unlimited attempts.
 */
import t from 'tap'
import type { RichMessageEvent } from '../../domain/ports/rich-messages.ts'
import type { Attempt } from '../../domain/records/webhook-delivery.ts'
import { createReceiveEvent } from '../../domain/rmsg/events.ts'
import type { SubscriptionTarget } from '../../domain/rmsg/subscriptions.ts'
import { WebhookError } from '../../domain/webhooks/client.ts'
import { createDeadlines } from '../../runtime/outbound/deadlines.ts'
import { TestClock } from '../clock.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { postJson } from '../router/requests.ts'
import { type Answer, ok, startReceiver, status } from '../webhooks/receiver.ts'
import { fieldsOfMessage, fieldsOfReaction, names } from './event-fields.ts'
import { insertMessage, masterKey, outboundEvent, postEvent, receivedEvent } from './provider-events.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  PARLEY_MASTER_KEY: masterKey,
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Event = {
  id: string
  event_type: string
  timestamp: string
  data: { message: Record<string, unknown>; reaction: object | null; contacts: object[]; agent_identities: object[] }
}
const webhook = '/v1/rmsg-phone-numbers/webhook'

let last = 600
async function shopWith(answer: Answer = ok, more: { creditMicroUsd?: number } = {}) {
  last += 1
  const e164 = `+15005550${last}`
  const { id, ...shop } = await admin.organization(`shop ${last}`, { scopes: ['platform', 'rmsg'], ...more })
  await admin.store.organizations.change(id, { rmsgEnabled: true })
  const number = { id: await insertRmsgNumber(sql, { e164, organizationId: id }), organizationId: id }
  const receiver = await startReceiver(answer)
  t.teardown(() => receiver.close())
  await call(shop, 'PUT', webhook, { url: receiver.url })
  const events = () => receiver.received.map(({ body }) => JSON.parse(body.toString()) as Event)
  return { shop, number, identity: `identity-${e164}`, receiver, events }
}

async function until(isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (isDone()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it has not come so far')
}

t.test('each kind of event has all its fields, and sending needs no credit', async (t) => {
  const { shop, events } = await shopWith(ok, { creditMicroUsd: 0 })
  const agent = { name: 'A', systemPrompt: 'x', intent: { language: 'en' }, rmsg: { enabled: true, mode: 'dedicated' } }
  const { id } = (await call(shop, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  const kinds: string[] = []
  for (const digits of ['0031', '0033', '0034', '0038']) {
    const to = `+1500555${digits}`
    const answer = await postJson(shop, `/v1/rmsg/${id}/messages`, { to, text: 'Ready.' })
    t.equal(answer.status, 202, 'without credit')
  }
  // The messages cause two, one, two and four events.
  await until(() => events().length === 9)
  for (const { id, event_type, timestamp, data } of events()) {
    kinds.push(event_type)
    t.match(id, /^evt_[^.]+$/)
    t.match(timestamp, /^\d{4}-.*Z$/)
    t.same(names(data), ['agent_identities', 'contacts', 'message', 'reaction'])
    t.same(names(data.message), fieldsOfMessage, event_type)
    t.same(data.contacts.map(names), [['id', 'name']])
    t.same(data.agent_identities.map(names), [['agent_handle', 'display_name', 'id']])
    if (event_type === 'rmsg.reaction_received') t.same(names(data.reaction ?? {}), fieldsOfReaction)
    else t.equal(data.reaction, null, event_type)
    const { error_code, error_message, error_reason, error_detail } = data.message
    const isFailed = event_type === 'rmsg.delivery_failed'
    for (const field of [error_code, error_message, error_reason, error_detail])
      t.equal(typeof field, isFailed ? 'string' : 'object', event_type)
  }
  t.same(
    new Set(kinds),
    new Set(['rmsg.sent', 'rmsg.delivered', 'rmsg.delivery_failed', 'rmsg.received', 'rmsg.reaction_received']),
  )
})

t.test("a message's rmsg.sent event is forwarded once, if the statuses accepted and sent both arrive", async (t) => {
  for (const [first, second] of [
    ['accepted', 'sent'],
    ['sent', 'accepted'],
  ] as const) {
    const { number, identity, events } = await shopWith()
    const message = await insertMessage(sql, number, {})
    const of = (status: string) => outboundEvent(identity, message, { type: 'rmsg.sent', status, service: 'rmsg' })
    const one = of(first)
    for (const event of [one, of(second), one]) t.equal(await postEvent(parley.url, event), 200)
    t.same(
      events().map(({ id }) => id),
      [one.id],
      `${first}, ${second}`,
    )
    const [row] = await sql`select status, channel from rmsg_messages where id = ${message.id}`
    t.same(row, { status: 'sent', channel: 'rmsg' }, 'both reports count for the message')
  }
})

t.test('an event whose delivery failed is sent again, even if another rmsg.sent event was sent since', async (t) => {
  let isDown = true
  const { number, identity, events } = await shopWith((response) => response.writeHead(isDown ? 500 : 200).end())
  const message = await insertMessage(sql, number, {})
  const of = (status: string) => outboundEvent(identity, message, { type: 'rmsg.sent', status, service: 'rmsg' })
  const [first, second] = [of('accepted'), of('sent')]
  t.equal(await postEvent(parley.url, first), 502)
  t.equal(await postEvent(parley.url, second), 200)
  isDown = false
  t.equal(await postEvent(parley.url, first), 200)
  t.same(
    events().map(({ id }) => id),
    [first.id, first.id],
  )
})

t.test('late events are forwarded, but do not change the status of the message', async (t) => {
  const { number, identity, events } = await shopWith()
  const message = await insertMessage(sql, number, {})
  const of = (type: string, status: string, service: string) =>
    outboundEvent(identity, message, { type: `rmsg.${type}`, status, service })
  for (const event of [
    of('delivered', 'delivered', 'rcs'),
    of('sent', 'sent', 'rmsg'),
    of('delivery_failed', 'error', 'rmsg'),
  ])
    t.equal(await postEvent(parley.url, event), 200)
  t.same(
    events().map(({ event_type }) => event_type),
    ['rmsg.delivered', 'rmsg.sent', 'rmsg.delivery_failed'],
  )
  const [row] = await sql`select status, channel from rmsg_messages where id = ${message.id}`
  t.same(row, { status: 'delivered', channel: 'rcs' })
})

t.test('a subscription is never disabled or skipped, however often its endpoint fails', async (t) => {
  const attempts = 25
  const { shop, identity, receiver } = await shopWith(status(500))
  const event = receivedEvent(identity, 'Hello')
  for (let attempt = 0; attempt < attempts; attempt++) t.equal(await postEvent(parley.url, event), 502)
  t.equal(receiver.received.length, attempts, 'and none of ours between them')
  t.equal(await postEvent(parley.url, receivedEvent(identity, 'Again')), 502)
  t.equal(receiver.received.length, attempts + 1, 'it is not disabled')
  t.match((await call(shop, 'GET', webhook)).json(), { configured: true, subscriptions: [{ url: receiver.url }] })
})

t.test('subscriptions get an event simultaneously, and have ten seconds each', async (t) => {
  const clock = new TestClock()
  const tenant = { organizationId: 'org_1', test: false }
  const event: RichMessageEvent = {
    ...{ id: 'evt_1', type: 'rmsg.received', occurredAtMs: 0, providerIdentity: 'x', conversationId: null },
    ...{ remoteNumber: '+15005550030', messageId: 'm', report: null, receivedOver: null, text: null },
    bytesFor: () => Buffer.from('{}'),
  }
  const target = (id: string): SubscriptionTarget => ({ id, url: `https://${id}.example/`, tags: {}, signing: null })
  const [asked, ends] = [[] as string[], [] as [string, Attempt['error']][]]
  const receive = createReceiveEvent({
    client: {
      post({ url, signal }) {
        asked.push(url)
        if (url.includes('quick')) return Promise.resolve({ status: 204, body: new Uint8Array(), isCut: false })
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new WebhookError('cancelled', signal.reason)))
        })
      },
    },
    clock,
    deadline: createDeadlines(clock),
    attemptId: () => '1',
    events: {
      route: () =>
        Promise.resolve({
          ...tenant,
          ...{ phoneNumberId: 'n', phoneNumber: '+15005550200', providerIdentity: 'x', conversationId: 'c', tags: {} },
        }),
      claim: () => Promise.resolve({ ...tenant, rowId: 'row', body: Buffer.from('{}'), acceptedBy: new Set<string>() }),
      attempted: (_event, _claimed, { id }, { error }) => Promise.resolve(void ends.push([id, error])),
      release: () => Promise.resolve(),
    },
    subscriptions: { targets: () => Promise.resolve([target('silent'), target('quick'), target('silent-2')]) },
    secrets: { signingSecrets: () => Promise.resolve(['whsec_AAAA']) },
    headerWord: 'service',
  })
  const outcome = receive(event)
  await until(() => asked.length === 3)
  await clock.advance(9_999)
  t.same(ends, [['quick', null]])
  await clock.advance(51)
  t.equal(await outcome, 'not_taken')
  t.same(ends.slice(1).sort(), [
    ['silent', 'timeout'],
    ['silent-2', 'timeout'],
  ])
})
