/** Phone numbers on sale at the simulated carrier. */
import t from 'tap'
import { startSimulator } from '../../simulator/simulator.ts'
import { recordingOf, startWorld, type World } from './setup.ts'

const query = (fields: Record<string, string>) => `?${new URLSearchParams(fields).toString()}`
const search = async (world: World, fields: Record<string, string>) => {
  const { body } = await world.ask('GET', `/available_phone_numbers${query(fields)}`)
  return (body.data as unknown as { phone_number: string }[]).map(({ phone_number }) => phone_number)
}
const order = (world: World, number: string, more: object = {}) =>
  world.ask('POST', '/number_orders', { phone_numbers: [{ phone_number: number }], ...more })

t.test('a search finds 555-0100 to 555-0199 in every area code except 999', async (t) => {
  const world = await startWorld(t)
  t.same(await search(world, { 'filter[national_destination_code]': '415', 'filter[limit]': '2' }), [
    '+14155550100',
    '+14155550101',
  ])
  t.equal((await search(world, { 'filter[national_destination_code]': '303', 'filter[limit]': '100' })).length, 100)
  const one = { 'filter[national_destination_code]': '415', 'filter[phone_number][ends_with]': '5550142' }
  t.same(await search(world, one), ['+14155550142'])
  t.same(await search(world, { 'filter[national_destination_code]': '999' }), [])
  t.same(await search(world, { 'filter[country_code]': 'DE' }), [])
  t.equal((await search(world, {})).length, 10)
})

t.test('an order succeeds and reserves its number, and a release frees it', async (t) => {
  const world = await startWorld(t)
  const { status, body } = await order(world, '+14155550100', { customer_reference: 'pn_1', connection_id: 'c' })
  t.equal(status, 200)
  t.match(body.data, {
    status: 'success',
    customer_reference: 'pn_1',
    phone_numbers: [{ phone_number: '+14155550100' }],
  })
  t.equal((await order(world, '+14155550100')).status, 422, 'it is taken')
  t.same(await search(world, { 'filter[national_destination_code]': '415', 'filter[limit]': '1' }), ['+14155550101'])
  const byReference = await world.ask('GET', `/number_orders${query({ 'filter[customer_reference]': 'pn_1' })}`)
  t.match(byReference.body.data, [{ id: body.data['id'] }])
  const none = await world.ask('GET', `/number_orders${query({ 'filter[customer_reference]': 'pn_2' })}`)
  t.same(none.body.data, [])
  const owned = await world.ask('GET', `/phone_numbers${query({ 'filter[phone_number]': '+14155550100' })}`)
  t.match(owned.body.data, [{ id: '14155550100', phone_number: '+14155550100', status: 'active' }])
  t.match((await world.ask('DELETE', '/phone_numbers/14155550100')).body.data, { status: 'deleted' })
  t.equal((await world.ask('DELETE', '/phone_numbers/14155550100')).status, 404)
  t.same((await world.ask('GET', `/phone_numbers${query({ 'filter[phone_number]': '+14155550100' })}`)).body.data, [])
  t.equal((await order(world, '+14155550100')).status, 200)
})

t.test('an order of …0199 is refused, …0198 is pending and succeeds, and …0197 is pending and fails', async (t) => {
  const world = await startWorld(t)
  t.equal((await order(world, '+14155550199')).status, 422)
  t.equal((await order(world, '+14155551234')).status, 422)
  for (const [number, end] of [
    ['+14155550198', 'success'],
    ['+14155550197', 'failure'],
  ] as const) {
    const { body } = await order(world, number)
    t.equal(body.data['status'], 'pending')
    const path = `/number_orders/${body.data['id'] as string}`
    await world.clock.advance(3000)
    t.equal((await world.ask('GET', path)).body.data['status'], 'pending')
    await world.clock.advance(3000)
    t.equal((await world.ask('GET', path)).body.data['status'], end)
  }
  t.equal((await order(world, '+14155550197')).status, 200, 'a failed order leaves the number')
})

t.test('another process returns the same status of an order', async (t) => {
  const world = await startWorld(t)
  const { body } = await order(world, '+14155550197')
  await world.clock.advance(6000)
  const speak = () => Promise.resolve(recordingOf('tt-weasels'))
  const other = await startSimulator({ clock: world.clock, webhookUrl: world.webhookUrl, speak })
  t.teardown(() => other.close())
  const headers = { authorization: `Bearer ${other.apiKey}` }
  const answer = await fetch(`${other.baseUrl}/number_orders/${body.data['id'] as string}`, { headers })
  t.match(await answer.json(), { data: { status: 'failure', phone_numbers: [{ phone_number: '+14155550197' }] } })
  const unknown = await fetch(`${other.baseUrl}/number_orders/3a5f0c2e-4d6b-4b9d-9b1d-3a5f0c2e4d6b`, { headers })
  t.equal(unknown.status, 404)
})
