/** Tests receive-only numbers: an adapter without sending, and an organization whose backend does not send. */
import t from 'tap'
import { messageEvent, messageKey, signedMessage } from '../carrier/message-events.ts'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { postJson } from '../router/requests.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { insertRmsgNumber } from './stored-number.ts'

// The carrier's settings have no messaging profile, so the adapter cannot send.
const { parley, admin } = await startOwnAdministered(t, {
  PARLEY_PUBLIC_URL: 'https://voice.example.com',
  PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  PARLEY_CARRIER_ADAPTER: 'telnyx',
  PARLEY_CARRIER_TELNYX_API_KEY: 'KEY1',
  PARLEY_CARRIER_TELNYX_CONNECTION_ID: '7267',
  PARLEY_CARRIER_TELNYX_PUBLIC_KEY: messageKey.publicKey,
  PARLEY_CARRIER_TELNYX_BASE_URL: 'http://127.0.0.1:9/v2',
})
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const message = { to: '+15005550030', text: 'Ready.' }

async function shopWith(e164: string, test: boolean) {
  const shop = await admin.organization(`shop of ${e164}`, { scopes: ['platform', 'rmsg'] })
  await admin.store.organizations.change(shop.id, { rmsgEnabled: true })
  await insertRmsgNumber(sql, { e164, organizationId: shop.id, test })
  const key = { ...shop, ...(await admin.key(shop.id, { scopes: ['platform', 'rmsg'], test })) }
  const agent = { name: 'A', systemPrompt: 'x', intent: { language: 'en' }, rmsg: { enabled: true, mode: 'dedicated' } }
  const made = await call(key, 'POST', '/v1/agents', agent)
  const capabilities = async () => {
    const [number] = (await call(key, 'GET', '/v1/rmsg-phone-numbers')).json<[{ capabilities: object }]>()
    return number.capabilities
  }
  return { key, id: shop.id, path: `/v1/rmsg/${made.json<{ id: string }>().id}/messages`, capabilities }
}

/** Delivers a message from the carrier to our number. */
async function receive(id: string, e164: string): Promise<number> {
  const to = [{ agent_id: `identity-${e164}` }]
  const event = messageEvent(id, 'message.received', { from: { phone_number: message.to }, to, body: { text: 'Hi' } })
  const [headers, body] = signedMessage(event)
  const all = { ...headers, 'content-type': 'application/json' }
  return (await fetch(`${parley.url}/carrier/carrier/messages`, { method: 'POST', headers: all, body })).status
}

t.test('UNSUPPORTED_BACKEND: a receive-only adapter refuses a send, and inbound messages are forwarded', async (t) => {
  const e164 = '+15005550401'
  const { key, id, path, capabilities } = await shopWith(e164, false)
  t.same(await capabilities(), { calls: true, messages: false, rmsgFirst: false, smsFallback: true })
  t.same(faultOf(await postJson(key, path, message)), { status: 422, code: 'UNSUPPORTED_BACKEND' })
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  await call(key, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: receiver.url })
  t.equal(await receive('r-1', e164), 200)
  await admin.store.organizations.change(id, { rmsgBackend: 'receive_only' })
  t.equal(await receive('r-2', e164), 200)
  const ids = receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id)
  t.same(ids, ['evt_r-1', 'evt_r-2'], 'also with the backend receive_only')
})

t.test('if an organization may only receive, its test keys still send through the simulator', async (t) => {
  const { key, id, path, capabilities } = await shopWith('+15005550402', true)
  t.match(await capabilities(), { messages: true, rmsgFirst: true })
  t.equal((await postJson(key, path, message)).status, 202)
  await admin.store.organizations.change(id, { rmsgBackend: 'receive_only' })
  t.match(await capabilities(), { calls: true, messages: false, rmsgFirst: false })
  t.same(faultOf(await postJson(key, path, message)), { status: 422, code: 'UNSUPPORTED_BACKEND' })
})
