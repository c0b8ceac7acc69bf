/** Tests rich messages over the adapter for Telnyx, from the request to the subscription. Telnyx is a stub. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import t from 'tap'
import { messageEvent, messageKey, signedMessage } from '../carrier/message-events.ts'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { postJson } from '../router/requests.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { fieldsOfMessage, names } from './event-fields.ts'
import { insertRmsgNumber } from './stored-number.ts'

type Sent = { webhook_url: string; [name: string]: unknown }
const requests: { path: string; authorization: string; body: Sent }[] = []
let refusal: { status: number; detail: string } | null = null
const carrier = createServer((request, response) => {
  void json(request).then((body) => {
    const { url: path = '', headers } = request
    requests.push({ path, authorization: headers.authorization ?? '', body: body as Sent })
    const text = refusal
      ? { errors: [{ code: '40300', title: 'No', detail: refusal.detail }] }
      : { data: { id: '4031938e-60e4-4235-a8dd-0b1c55a23e7a' } }
    response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(text))
  })
})
carrier.listen(0, '127.0.0.1')
await once(carrier, 'listening')
t.teardown(() => void carrier.close())

const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_MASTER_KEY: 'm'.repeat(32),
  PARLEY_PUBLIC_URL: 'https://voice.example.com',
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  PARLEY_CARRIER_ADAPTER: 'telnyx',
  PARLEY_CARRIER_TELNYX_API_KEY: 'KEY1',
  PARLEY_CARRIER_TELNYX_CONNECTION_ID: '7267',
  PARLEY_CARRIER_TELNYX_PUBLIC_KEY: messageKey.publicKey,
  PARLEY_CARRIER_TELNYX_MESSAGING_PROFILE_ID: 'profile-1',
  PARLEY_CARRIER_TELNYX_BASE_URL: `http://127.0.0.1:${(carrier.address() as AddressInfo).port}/v2`,
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const shop = await admin.organization('shop', { scopes: ['platform', 'rmsg'] })
await admin.store.organizations.change(shop.id, { rmsgEnabled: true, messageText: 'keep' })
const e164 = '+15005550300'
const phoneNumberId = await insertRmsgNumber(sql, { e164, organizationId: shop.id })
const identity = `identity-${e164}`
const rmsg = { enabled: true, mode: 'dedicated' }
const made = await call(shop, 'POST', '/v1/agents', {
  name: 'Shop',
  systemPrompt: 'x',
  intent: { language: 'en' },
  rmsg,
})
const to = '+15005550030'
const path = `/v1/rmsg/${made.json<{ id: string }>().id}/messages`
const send = (tags: object = {}) => postJson(shop, path, { to, text: 'Ready.', tags })

async function report(webhookUrl: string, event: object): Promise<number> {
  const { pathname, search } = new URL(webhookUrl)
  const [headers, body] = signedMessage(event)
  const all = { ...headers, 'content-type': 'application/json' }
  return (await fetch(`${parley.url}${pathname}${search}`, { method: 'POST', headers: all, body })).status
}

type Received = { id: string; event_type: string; data: { message: Record<string, unknown> } }

t.test('a message is sent as RCS with SMS as its fallback, and its events reach the subscription', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  await call(shop, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: receiver.url })
  const answer = await send()
  t.equal(answer.status, 202, answer.text)
  const { messageId, conversationId } = answer.json<{ messageId: string; conversationId: string }>()
  const request = requests.at(-1)
  t.match(request, { path: '/v2/messages/rcs', authorization: 'Bearer KEY1' })
  const webhookUrl = `https://voice.example.com/carrier/carrier/messages?message=${messageId}`
  t.same(request?.body, {
    type: 'RCS',
    agent_id: identity,
    messaging_profile_id: 'profile-1',
    to,
    agent_message: { content_message: { text: 'Ready.' } },
    webhook_url: webhookUrl,
    sms_fallback: { from: e164, text: 'Ready.' },
  })
  const from = { agent_id: identity }
  t.equal(await report(webhookUrl, messageEvent('a-1', 'message.sent', { from })), 200)
  // The event reports that the phone has received the SMS.
  const fallback = { type: 'SMS', text: 'Ready.', body: undefined, from: { phone_number: e164 } }
  const delivered = { ...fallback, to: [{ phone_number: to, status: 'delivered' }] }
  t.equal(await report(webhookUrl, messageEvent('a-2', 'message.finalized', delivered)), 200)
  const inbound = { from: { phone_number: to }, to: [{ agent_id: identity }], body: { text: 'Danke 👋' } }
  const profileUrl = 'https://voice.example.com/carrier/carrier/messages'
  t.equal(await report(profileUrl, messageEvent('a-3', 'message.received', inbound)), 200)
  t.equal(await report(profileUrl, messageEvent('a-4', 'message.queued', { from })), 200, 'it says nothing')
  const events = receiver.received.map(({ body }) => JSON.parse(body.toString()) as Received)
  const shared = { conversation_id: conversationId, remote_number: to }
  t.match(events, [
    {
      id: 'evt_a-1',
      event_type: 'rmsg.sent',
      timestamp: '2026-11-23T22:00:01.000Z',
      data: {
        message: {
          ...shared,
          id: messageId,
          status: 'sent',
          service: 'rmsg',
          was_downgraded: false,
          content: 'Ready.',
        },
        reaction: null,
        contacts: [{ id: to, name: null }],
        agent_identities: [{ id: identity }],
      },
    },
    {
      event_type: 'rmsg.delivered',
      data: { message: { ...shared, id: messageId, status: 'delivered', service: 'sms', was_downgraded: true } },
    },
    {
      event_type: 'rmsg.received',
      data: { message: { ...shared, direction: 'inbound', status: 'received', content: 'Danke 👋' } },
    },
  ])
  t.equal(events.length, 3)
  for (const { data } of events) t.same(names(data.message), fieldsOfMessage)
  for (const { headers } of receiver.received)
    t.match(headers, {
      'x-service-phone-number-id': phoneNumberId,
      'x-service-phone-number': e164,
      'x-service-provider-identity-id': identity,
    })
  const [row] = await sql`select status, channel from rmsg_messages where id = ${messageId}`
  t.same(row, { status: 'delivered', channel: 'sms' })
  const texts = await sql`select direction, text from rmsg_messages order by direction`
  t.same(texts, [
    { direction: 'inbound', text: 'Danke 👋' },
    { direction: 'outbound', text: 'Ready.' },
  ])
})

t.test('a failed message shows the reason that the carrier gave', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  await call(shop, 'DELETE', '/v1/rmsg-phone-numbers/webhook')
  await call(shop, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: receiver.url })
  for (const [reason, status] of [
    ['sending_failed', 'declined'],
    ['delivery_failed', 'error'],
    ['expired', 'error'],
  ] as const) {
    const { messageId } = (await send()).json<{ messageId: string }>()
    const payload = {
      from: { agent_id: identity },
      to: [{ phone_number: to, status: reason }],
      errors: [{ code: '40008', title: 'Undeliverable', detail: 'The phone could not be reached.' }],
    }
    const url = requests.at(-1)?.body.webhook_url ?? ''
    t.equal(await report(url, messageEvent(`b-${reason.replace('_', '-')}`, 'message.finalized', payload)), 200)
    t.match(JSON.parse(String(receiver.received.at(-1)?.body)), {
      event_type: 'rmsg.delivery_failed',
      data: {
        message: {
          id: messageId,
          status,
          error_code: '40008',
          error_message: 'Undeliverable',
          error_reason: reason,
          error_detail: 'The phone could not be reached.',
        },
      },
    })
    const [row] = await sql`select status from rmsg_messages where id = ${messageId}`
    t.same(row, { status })
  }
})

t.test('a refusal by the carrier is passed on, and other failures of the carrier are answered 502', async (t) => {
  for (const [providerStatus, status] of [
    [422, 422],
    [401, 502],
    [500, 502],
  ]) {
    refusal = { status: providerStatus ?? 0, detail: 'The agent is not launched.' }
    const answer = await send()
    t.match(faultOf(answer), { status, code: 'MESSAGE_SEND_FAILED' })
    const said = { providerStatus, providerDetail: 'The agent is not launched.' }
    t.match(answer.json(), { ...said, details: said })
  }
  refusal = null
})

t.test('if SMS is not set up for the number, there is no fallback', async (t) => {
  await sql`update rmsg_numbers set sms_status = 'pending' where id = ${phoneNumberId}`
  t.equal((await send()).status, 202)
  t.notOk('sms_fallback' in (requests.at(-1)?.body ?? {}))
})

t.test('an event whose carrier signature is wrong, or older than allowed, is refused', async (t) => {
  const [headers, body] = signedMessage(messageEvent('c-1', 'message.sent', {}), Date.now() - 301_000)
  const url = `${parley.url}/carrier/carrier/messages`
  const all = { ...headers, 'content-type': 'application/json' }
  t.equal((await fetch(url, { method: 'POST', headers: all, body })).status, 401)
  const [fresh, signed] = signedMessage(messageEvent('c-1', 'message.sent', {}))
  const altered = Buffer.concat([signed, Buffer.from(' ')])
  const forged = { ...fresh, 'content-type': 'application/json' }
  t.equal((await fetch(url, { method: 'POST', headers: forged, body: altered })).status, 401)
})
