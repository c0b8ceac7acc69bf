/** SMS from rich-message numbers, from an operator's command to the request at the carrier, which is a Telnyx stub. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { runCommand } from '../command.ts'
import { call } from '../platform/setup.ts'
import { postJson } from '../router/requests.ts'
import { startAdministered } from './administered.ts'
import { jsonOf } from './output.ts'

/** The campaign to which the carrier has assigned each number. */
const assignments = new Map<string, { campaignId: string; assignmentStatus: string }>()
const sent: Record<string, unknown>[] = []
let isAway = false

function answerTo({ method = '', url = '' }: IncomingMessage, body: string): [number, object] {
  const [, e164] = /^\/v2\/10dlc\/phone_number_campaigns\/(.*)$/.exec(decodeURIComponent(url)) ?? []
  const assignment = assignments.get(e164 ?? '')
  if (e164 !== undefined && isAway) return [503, {}]
  if (e164 !== undefined) return assignment ? [200, { phoneNumber: e164, ...assignment }] : [404, {}]
  if (method === 'GET') return [200, { data: { agent_id: 'agent-1', enabled: true } }]
  sent.push(JSON.parse(body) as Record<string, unknown>)
  return [200, { data: { id: 'b0c8e8a4-6e1c-4f57-9d55-6c1b9e4f7a10' } }]
}

const carrier = createServer((request, response) => {
  void text(request).then((content) => {
    const [status, body] = answerTo(request, content)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
})
carrier.listen(0, '127.0.0.1')
await once(carrier, 'listening')
t.teardown(() => void carrier.close())

const env = {
  PARLEY_PUBLIC_URL: 'https://voice.example.com',
  PARLEY_CARRIER_ADAPTER: 'telnyx',
  PARLEY_CARRIER_TELNYX_API_KEY: 'KEY1',
  PARLEY_CARRIER_TELNYX_CONNECTION_ID: '7267',
  PARLEY_CARRIER_TELNYX_PUBLIC_KEY: Buffer.alloc(32).toString('base64'),
  PARLEY_CARRIER_TELNYX_MESSAGING_PROFILE_ID: 'profile-1',
  PARLEY_CARRIER_TELNYX_BASE_URL: `http://127.0.0.1:${(carrier.address() as AddressInfo).port}/v2`,
}
const { parley, admin } = await startAdministered(t, env)

type Row = { id: string; smsStatus: string }
const command = <Printed>(...args: string[]) => jsonOf<Printed>(runCommand(parley, ['rmsg', ...args, '--json'], env))
const sync = () => command<{ changed: Row[]; unknown: number }>('sync')
const e164 = '+14155550190'
const assigned = (assignmentStatus: string) => assignments.set(e164, { campaignId: 'c1', assignmentStatus })

const shop = await admin.organization('shop', { scopes: ['platform', 'rmsg'] })
await admin.store.organizations.change(shop.id, { rmsgEnabled: true })

t.test('a number that is assigned to a campaign sends rich messages with SMS as a fallback', async (t) => {
  assigned('PENDING_ASSIGNMENT')
  t.match(await command<Row>('add', e164, '--identity', 'agent-1'), { smsStatus: 'pending' })
  await command('assign', e164, '--org', shop.id)
  const agent = { name: 'A', systemPrompt: 'x', intent: { language: 'en' }, rmsg: { enabled: true, mode: 'dedicated' } }
  const { id } = (await call(shop, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  const message = { to: '+15005550030', text: 'Ready.' }
  const send = async () => {
    const answer = await postJson(shop, `/v1/rmsg/${id}/messages`, message)
    if (answer.status !== 202) throw new Error(answer.text)
    return sent.at(-1)?.['sms_fallback']
  }
  const shown = async () => (await call(shop, 'GET', '/v1/rmsg-phone-numbers')).json<object[]>()
  t.match(await shown(), [{ smsStatus: 'pending', smsReadyAt: null, capabilities: { smsFallback: false } }])
  t.equal(await send(), undefined)
  assigned('ASSIGNED')
  t.match(await sync(), { changed: [{ smsStatus: 'ready' }], unknown: 0 })
  t.match(await shown(), [{ smsStatus: 'ready', smsReadyAt: /Z$/, capabilities: { smsFallback: true } }])
  t.same(await send(), { from: e164, text: 'Ready.' })
  isAway = true
  t.same(await sync(), { changed: [], unknown: 1 }, 'a registry that does not answer changes nothing')
  isAway = false
  assigned('FAILED_ASSIGNMENT')
  t.match(await sync(), { changed: [{ smsStatus: 'failed' }] })
  assignments.delete(e164)
  t.match(await sync(), { changed: [{ smsStatus: 'not_configured' }] })
  t.equal(await send(), undefined)
})
