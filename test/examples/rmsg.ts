import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import type { TestServer } from '../server.ts'
import type { Examples, Received, Sent } from './run.ts'

/** Compares responses about rich messages with the contract's examples. */
export async function compareRmsg(
  t: Test,
  examples: Examples,
  { parley, admin }: { parley: TestServer; admin: Administration },
): Promise<void> {
  const list = { operation: 'listRmsgNumbers' }
  const listed = await examples.send(parley, list)
  examples.compare(t, listed, { example: 'listRmsgNumbers 200: local' })
  const [number] = JSON.parse(listed.body.toString()) as [{ id: string }]
  await compareMessages(t, examples, parley, admin, number.id)
  const none = await admin.organization('without rich messages', { scopes: ['rmsg'] })
  examples.compare(t, await examples.send(none, list), { example: 'RmsgForbidden: notEnabled' })
  const { id } = none
  await admin.store.organizations.change(id, { rmsgEnabled: true, rmsgLegacyInventory: true })
  const send = (sent: Sent) => examples.send(none, sent)
  const compare = (received: Received, example: string) => examples.compare(t, received, { example })
  compare(await send({ operation: 'listRmsgSubscriptions' }), 'listRmsgSubscriptions 200: none')
  compare(await send({ operation: 'putRmsgSubscription', request: 'tagged' }), 'putRmsgSubscription 201: tagged')
  compare(await send({ operation: 'listRmsgSubscriptions' }), 'listRmsgSubscriptions 200: one')
  compare(await send({ operation: 'putRmsgSubscription', request: 'all' }), 'putRmsgSubscription 200: all')
  for (let at = 1; at < 20; at++)
    await send({ operation: 'putRmsgSubscription', request: 'all', fields: { url: `https://shop.example/${at}` } })
  const more = { url: 'https://shop.example/more' }
  const tooMany = await send({ operation: 'putRmsgSubscription', request: 'all', fields: more })
  compare(tooMany, 'RmsgSubscriptionConflict: subscriptions')
  t.equal((await send({ operation: 'deleteRmsgSubscriptions' })).status, 204)
  const other = await admin.key(none.id)
  const fields = { rmsg: { enabled: true, mode: 'dedicated' } }
  const refused = await examples.send(other, { operation: 'createAgent', request: 'least', fields })
  examples.compare(t, refused, { example: 'Conflict: rmsg' })
  examples.compare(t, await examples.send(other, list), { example: 'RmsgForbidden: rmsgScope' })
  await admin.store.users.create(none.id, 'ann@example.com', 'member')
  const issued = await admin.store.users.issue(none.id, 'ann@example.com', 'user_token')
  const user = { ...none, key: issued?.secret ?? '' }
  examples.compare(t, await examples.send(user, list), { example: 'RmsgForbidden: keyRequired' })
}

async function compareMessages(
  t: Test,
  examples: Examples,
  parley: TestServer,
  admin: Administration,
  phoneNumberId: string,
): Promise<void> {
  const message = { operation: 'sendNumberMessage', request: 'tagged', values: { phoneNumberId } }
  const equal = async (example: string, sent: Partial<Sent>, target: Target = parley) =>
    examples.compare(t, await examples.send(target, { ...message, ...sent }), { example })
  await equal('sendNumberMessage 202: queued', {})
  await equal('MessageBadRequest: number', { fields: { to: '+15550001111' } })
  await equal('MessageNotFound: messageNumber', { values: {} })
  await equal('MessageUnprocessable: refused', { fields: { to: '+15005550035' } })
  await equal('MessageSendFailed: unavailable', { fields: { to: '+15005550036' } })
  const headers = { 'idempotency-key': 'one' }
  await examples.send(parley, { ...message, headers })
  await equal('MessageConflict: conflict', { headers, fields: { text: 'Another text.' } })
  const agent = await examples.send(parley, { operation: 'createAgent', request: 'least', fields: { name: 'Sends' } })
  const { id: agentId } = JSON.parse(agent.body.toString()) as { id: string }
  const asAgent = { operation: 'sendAgentMessage', request: 'message', values: { agentId } }
  const change = (rmsg: object) =>
    examples.send(parley, { operation: 'updateAgent', values: { id: agentId }, body: JSON.stringify({ rmsg }) })
  const calling = { operation: 'callFromRmsgNumber', request: 'agent', fields: { agentId } }
  await equal('callFromRmsgNumber 200: dialing', { ...calling, values: { phoneNumberId } })
  await equal('RmsgCallNotFound: rmsgCallNumber', { ...calling, values: {} })
  await equal('sendAgentMessage 404: noAgent', { ...asAgent, values: {} })
  await equal('sendAgentMessage 409: agentOff', asAgent)
  await change({ enabled: true })
  await equal('sendAgentMessage 409: shared', asAgent)
  await change({ enabled: true, mode: 'dedicated' })
  await equal('sendAgentMessage 202: sent', asAgent)
  await change({ enabled: false })
  const off = await admin.organization('messages are off', { scopes: ['rmsg'] })
  await equal('sendAgentMessage 403: messagesOff', asAgent, off)
  const [local] = await admin.store.organizations.list()
  await admin.store.organizations.change(local?.id ?? '', { rmsgBackend: 'receive_only' })
  await equal('MessageUnprocessable: backend', {})
  await admin.store.organizations.change(local?.id ?? '', { rmsgBackend: 'default' })
}
