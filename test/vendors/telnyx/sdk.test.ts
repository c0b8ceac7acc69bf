/** The carrier's client drives the simulator and verifies its webhooks. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { richEventTypes } from '../../../domain/ports/rich-messages.ts'
import { type Command, ref, serveCarrier } from '../../carrier/carrier-api.ts'
import { lackingOperations } from '../../carrier/lacking-operations.ts'
import { until } from '../../http/harness.ts'
import { allCallEvents, callEventTypes } from '../../simulator/all-events.ts'
import { agentNumber, far, type Received, startWorld, streamFields, type World } from '../../simulator/setup.ts'
import { type Client, loadLibrary, missing } from './client.ts'

const library = loadLibrary()
const skip = library ? false : missing
const clientOf = ({ simulator }: World): Client => {
  if (!library) throw new Error(missing)
  return new library.Telnyx({ apiKey: simulator.apiKey, baseURL: simulator.baseUrl, maxRetries: 0 })
}
const idOf = async (answer: ReturnType<Client['calls']['dial']>) => (await answer).data?.['call_control_id'] as string

t.test('the Telnyx SDK places a call, sends digits, streams, bridges and hangs up', { skip }, async (t) => {
  const world = await startWorld(t)
  const { calls } = clientOf(world)
  const id = await idOf(calls.dial({ connection_id: 'c', from: agentNumber, to: far('0006') }))
  t.match((await calls.retrieveStatus(id)).data, { is_alive: true, record_type: 'call' })
  await world.clock.advance(1000)
  await world.event('call.answered')
  const ok = { data: { result: 'ok' } }
  t.match(await calls.actions.sendDtmf(id, { digits: '1' }), ok)
  t.match(await calls.actions.startStreaming(id, streamFields(world)), ok)
  await world.stream()
  t.match(await calls.actions.stopStreaming(id, {}), ok)
  const incoming = world.simulator.call({ from: far('0011'), to: agentNumber })
  t.match(await calls.actions.answer(incoming, {}), ok)
  t.match(await calls.actions.bridge(id, { call_control_id: incoming }), ok)
  await world.event('call.bridged', 2)
  t.match(await calls.actions.hangup(id, {}), ok)
  await world.event('call.hangup', 2)
  await t.rejects(calls.actions.hangup(id, {}), /422/)
  const rejected = world.simulator.call({ from: far('0011'), to: agentNumber })
  t.match(await calls.actions.reject(rejected, { cause: 'CALL_REJECTED' }), ok)
  const caller = world.simulator.call({ from: far('0011'), to: agentNumber })
  await calls.actions.answer(caller, {})
  t.match(await calls.actions.transfer(caller, { to: far('0006') }), ok)
  await t.rejects(calls.dial({ connection_id: 'c', from: agentNumber, to: far('0001') }), /403/)
  await t.rejects(calls.dial({ connection_id: 'c', from: agentNumber, to: far('0024') }), /503/)
})

t.test('the Telnyx SDK searches, orders and releases numbers', { skip }, async (t) => {
  const world = await startWorld(t)
  const { availablePhoneNumbers, numberOrders, phoneNumbers } = clientOf(world)
  const filter = { national_destination_code: '415', limit: 3, country_code: 'US' }
  const found = await availablePhoneNumbers.list({ filter })
  t.equal(found.data?.length, 3)
  t.match(found.data, [{ phone_number: '+14155550100', features: [{ name: 'voice' }] }])
  const order = await numberOrders.create({
    phone_numbers: [{ phone_number: '+14155550100' }],
    customer_reference: 'r',
  })
  t.match((await numberOrders.retrieve(order.data?.['id'] as string)).data, { status: 'success' })
  const owned = await phoneNumbers.list({ filter: { phone_number: '+14155550100' } })
  t.match(await phoneNumbers.delete(owned.data?.[0]?.['id'] as string), { data: { status: 'deleted' } })
})

t.test('requests absent from the OpenAPI document equal requests by the Telnyx SDK', { skip }, async (t) => {
  const carrier = await serveCarrier(t)
  const { line, numbers, messages, registry } = carrier
  carrier.answers({ status: 200, body: { data: { id: 'o', status: 'success' } } })
  await line.reject(ref, 486)
  await line.find(ref.legId)
  await numbers.findOrder({ id: 'o', reference: 'pn_1' })
  await numbers.release('1293')
  await registry.findCampaignByReference('b1', 'r1')
  await messages.has('Agent007')
  const ours = carrier.commands.splice(0)
  const { calls, connections, numberOrders, phoneNumbers, messaging, messaging10dlc } = new library!.Telnyx({
    apiKey: 'KEY1',
    baseURL: carrier.baseUrl,
    maxRetries: 0,
  })
  await calls.actions.reject(ref.carrierLegId, { cause: 'USER_BUSY', command_id: `${ref.legId}-reject` })
  await connections.listActiveCalls('7267', { page: { limit: 100 } })
  await numberOrders.retrieve('o')
  await phoneNumbers.delete('1293')
  await messaging10dlc.campaign.list({ brandId: 'b1', recordsPerPage: 500 })
  await messaging.rcs.agents.retrieve('Agent007')
  const seen = ({ method, path, authorization, body }: Command) => ({
    method,
    path: decodeURIComponent(path),
    authorization,
    body,
  })
  t.strictSame(ours.map(seen), carrier.commands.map(seen))
  t.equal(ours.length, lackingOperations.length)
})

t.test('the Telnyx SDK accepts our webhook signatures, and refuses changed and old webhooks', { skip }, async (t) => {
  const world = await startWorld(t)
  const { webhooks } = clientOf(world)
  const key = world.simulator.publicKey
  const unwrap = ({ body, headers }: Pick<Received, 'body' | 'headers'>) =>
    webhooks.unwrap(body, { headers: headers as Record<string, string>, key })
  await allCallEvents(world)
  t.same([...new Set(world.types())].sort(), callEventTypes)
  for (const event of world.events) t.match(await unwrap(event), { data: { event_type: event.type, id: event.id } })
  const messages = await eventsOfMessages(await startWorld(t))
  t.same([...new Set(messages.events.map(typeOfMessage))].sort(), [...richEventTypes].sort())
  for (const event of messages.events)
    t.match(
      await webhooks.unwrap(event.body, { headers: event.headers as Record<string, string>, key: messages.publicKey }),
      { event_type: typeOfMessage(event) },
    )
  const { body, headers } = world.events[0] as Received
  await t.rejects(unwrap({ body: body.replace('outgoing', 'incoming'), headers }))
  const old = String(Number(headers['telnyx-timestamp']) - 301)
  await t.rejects(unwrap({ body, headers: { ...headers, 'telnyx-timestamp': old } }))

  const late = await startWorld(t)
  late.clock.setMs -= 301_000
  await late.dial(far('0002'))
  await until(() => late.events.length === 1)
  await t.rejects(
    webhooks.unwrap(late.events[0]?.body ?? '', {
      headers: late.events[0]?.headers as Record<string, string>,
      key: late.simulator.publicKey,
    }),
  )
})

/** Makes each kind of rich-message event: one message is delivered and gets a reply, another is declined. */
async function eventsOfMessages(world: World): Promise<{ events: Received[]; publicKey: string }> {
  for (const to of [far('0038'), far('0033')]) {
    const message = { id: randomUUID(), conversation_id: randomUUID(), identity_id: 'identity-1', to, text: 'Ready.' }
    await world.ask('POST', '/rich_messages', { ...message, webhook_url: world.webhookUrl })
  }
  await world.clock.advance(3000)
  await until(() => world.events.length === 5)
  return { events: world.events, publicKey: world.simulator.publicKey }
}

const typeOfMessage = ({ body }: Received) => (JSON.parse(body) as { event_type: string }).event_type
