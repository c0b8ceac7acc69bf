/** Makes one resource for each kind of id in the platform API. If its row can be read back, it contains a secret. */
import type { Test } from 'tap'
import { v7 } from 'uuid'
import type { Tenant } from '../../domain/records/organization.ts'
import { conversationIdOf } from '../../domain/records/rmsg-message.ts'
import { callbackOf, hourMs, promised } from '../callbacks/callback.ts'
import { brandProfile as brand } from '../carrier/sms-profiles.ts'
import { insertNumber } from '../phone/stored-number.ts'
import type { openDatabase } from '../process/database.ts'
import { insertRmsgNumber } from '../rmsg/stored-number.ts'
import type { Target } from '../router/requests.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { recordDelivery } from '../webhooks/recorded.ts'
import type { Things } from './isolation-table.ts'
import { type Administration, answer, call, pinned, putKey, routeOf } from './setup.ts'

type Sql = ReturnType<typeof openDatabase>

/**
 * Makes the resources for a live or a test key with the scopes router, platform and rmsg. `movement` is the id of a
 * credit movement. No operation accepts it.
 */
export async function makeThings(
  t: Test,
  { admin, sql }: { admin: Administration; sql: Sql },
  target: Target,
  owner: Tenant,
): Promise<Things & { movement: string }> {
  const isLive = !owner.test
  const wanted = { name: 'Owned', systemPrompt: 'k4n4ry', intent: { language: 'en' } }
  const agent = (await call(target, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
  const source = { kind: 'webhook', url: 'https://owner.example/', authHeaders: [{ name: 'x-key', value: 'k4n4ry' }] }
  const tool = { name: 'owned', description: 'k4n4ry', source }
  const { id } = (await call(target, 'POST', `/v1/agents/${agent}/tools`, tool)).json<{ id: string }>()
  if (isLive) await putKey(target, 'other', 'k4n4ry-key')
  const made = await answer(target, pinned('local/scripted'))
  await routeOf(t, target, made)
  const session = await call(target, 'POST', '/v1/sessions', { agentId: agent, metadata: { secret: 'k4n4ry' } })
  t.equal(session.status, 201, session.text)
  const { sessionId } = session.json<{ sessionId: string }>()
  const request = made.headers.get('service-request-id') ?? ''
  const stored = await admin.store.calls.find(owner, sessionId)
  if (stored === null) throw new Error('no session')
  const callback = callbackOf(stored, { nextTryAtMs: Date.now() + hourMs })
  t.same(await admin.store.calls.append(stored, sessionId, [promised(callback)]), [])
  const transfer = transferOf(stored)
  t.same(await admin.store.calls.append(stored, sessionId, [transferred(transfer)]), [])
  const delivery = await recordDelivery(admin.store, stored, v7(), { callId: sessionId, payload: { secret: 'k4n4ry' } })
  const headers = [{ name: 'x-key', value: 'k4n4ry' }]
  const endpoint = { name: 'k4n4ry', url: 'https://owner.example/', events: ['call.report'], authHeaders: headers }
  const webhook = (await call(target, 'POST', '/v1/webhooks', endpoint)).json<{ id: string }>().id
  const number = await insertNumber(sql, stored, { e164: isLive ? '+12125550100' : '+12125550101', label: 'k4n4ry' })
  const ofCall = { call: sessionId, transfer: transfer.id, callback: callback.id, delivery }
  const trunk = { name: 'k4n4ry', inbound: { username: 'k4n4ry', password: 'k4n4ry-password' } }
  const connection = (await call(target, 'POST', '/v1/phone-numbers/sip-connections', trunk)).json<{ id: string }>().id
  const subscribed = { url: 'https://owner.example/', signingSecret: 'k4n4ry-secret' }
  const subscription = (await call(target, 'PUT', '/v1/rmsg-phone-numbers/webhook', subscribed)).json<{ id: string }>()
    .id
  const e164 = isLive ? '+15005550320' : '+15005550321'
  const richNumber = await insertRmsgNumber(sql, { e164, ...owner, agentId: agent })
  const [to, status] = ['+15005550199', 'delivered'] as const
  const conversation = conversationIdOf(richNumber, to)
  const sent = {
    ...owner,
    id: v7(),
    phoneNumberId: richNumber,
    conversationId: conversation,
    to,
    status,
    channel: null,
  }
  const message = { ...sent, tags: { secret: 'k4n4ry' }, createdAtMs: Date.now() }
  await admin.store.organizations.change(owner.organizationId, { messageText: 'keep' })
  await admin.store.rmsgMessages.insert(message, 'The k4n4ry is here.')
  t.equal((await call(target, 'PUT', '/v1/sms/10dlc/brand', { ...brand, legalName: 'k4n4ry' })).status, 200)
  await admin.store.organizations.addCredit(owner.organizationId, 4_711)
  await admin.store.users.create(owner.organizationId, `shared@${owner.organizationId}.example`, 'viewer')
  const [member] = (await admin.store.members.list(owner.organizationId)).filter(({ email }) => /^shared/.test(email))
  const ledger = await call(target, 'GET', '/v1/credits/ledger?limit=1')
  const movement = ledger.json<{ entries: { id: string }[] }>().entries[0]?.id ?? ''
  t.match(movement, /^credit_/)
  return {
    agent,
    tool: id,
    provider: 'other',
    request,
    ...ofCall,
    webhook,
    number,
    connection,
    subscription,
    richNumber,
    conversation,
    key: stored.keyId,
    member: member?.userId ?? '',
    movement,
  }
}
