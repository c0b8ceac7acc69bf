/** The carrier's own client as the client of the simulator and as the verifier of its webhooks. */
import t from 'tap'
import { until } from '../../http/harness.ts'
import { agentNumber, far, type Received, startWorld, streamFields, type World } from '../../simulator/setup.ts'
import { type Client, loadLibrary, missing } from './client.ts'

const library = loadLibrary()
const skip = library ? false : missing
const clientOf = ({ simulator }: World): Client => {
  if (!library) throw new Error(missing)
  return new library.Telnyx({ apiKey: simulator.apiKey, baseURL: simulator.baseUrl, maxRetries: 0 })
}
const idOf = async (answer: ReturnType<Client['calls']['dial']>) => (await answer).data?.['call_control_id'] as string

t.test('the client places a call, sends digits, streams, bridges and hangs up', { skip }, async (t) => {
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

t.test('the client searches, orders and releases numbers', { skip }, async (t) => {
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

t.test('the client verifies webhooks, and refuses changed and old ones', { skip }, async (t) => {
  const world = await startWorld(t)
  const { webhooks } = clientOf(world)
  const key = world.simulator.publicKey
  const unwrap = ({ body, headers }: Pick<Received, 'body' | 'headers'>) =>
    webhooks.unwrap(body, { headers: headers as Record<string, string>, key })
  await world.dial(far('0006'), streamFields(world))
  await world.clock.advance(1000)
  await world.event('streaming.started')
  t.equal(world.events.length, 3)
  for (const event of world.events) t.match(await unwrap(event), { data: { event_type: event.type, id: event.id } })
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
