/** Tests rich messages at the simulated provider: the events of each phone number, and refused requests. */
import { createPublicKey, randomUUID, verify } from 'node:crypto'
import t from 'tap'
import { until } from '../http/harness.ts'
import { far, type Received, startWorld, type World } from './setup.ts'

const conversation = '019aaaf6-7c00-8d5e-9b3a-2f1c8e4d6a70'
const message = (world: World, to: string, more: object = {}) => ({
  id: randomUUID(),
  conversation_id: conversation,
  identity_id: 'identity-1',
  to,
  text: 'Your bicycle is ready.',
  webhook_url: world.webhookUrl,
  ...more,
})
const send = (world: World, to: string, more: object = {}) =>
  world.ask('POST', '/rich_messages', message(world, to, more))

type Event = {
  id: string
  event_type: string
  data: { message: Record<string, unknown>; reaction: Record<string, unknown> | null }
}
const written = ({ body }: Received) => JSON.parse(body) as Event

/** Waits for all events of a message, in any order. */
async function eventsOf(world: World, wanted: number): Promise<Event[]> {
  world.clock.advance(3000)
  await until(() => world.events.length >= wanted)
  await pause()
  return world.events.map(written)
}
/** Waits long enough that an unwanted event would have arrived. */
const pause = () => new Promise((resolve) => setTimeout(resolve, 50))

const cases: [digits: string, expected: [type: string, status: string, service: string][]][] = [
  [
    '0030',
    [
      ['rmsg.sent', 'sent', 'rmsg'],
      ['rmsg.delivered', 'delivered', 'rmsg'],
    ],
  ],
  [
    '1234',
    [
      ['rmsg.sent', 'sent', 'rmsg'],
      ['rmsg.delivered', 'delivered', 'rmsg'],
    ],
  ],
  [
    '0031',
    [
      ['rmsg.sent', 'accepted', 'rmsg'],
      ['rmsg.delivered', 'delivered', 'sms'],
    ],
  ],
  [
    '0032',
    [
      ['rmsg.sent', 'accepted', 'rmsg'],
      ['rmsg.delivered', 'delivered', 'rcs'],
    ],
  ],
  ['0033', [['rmsg.delivery_failed', 'declined', 'rmsg']]],
  [
    '0034',
    [
      ['rmsg.sent', 'accepted', 'rmsg'],
      ['rmsg.delivery_failed', 'error', 'rmsg'],
    ],
  ],
  [
    '0038',
    [
      ['rmsg.sent', 'sent', 'rmsg'],
      ['rmsg.delivered', 'delivered', 'rmsg'],
      ['rmsg.received', 'received', 'rmsg'],
      ['rmsg.reaction_received', 'delivered', 'rmsg'],
    ],
  ],
]

for (const [digits, expected] of cases)
  t.test(`a rich message to …${digits} causes ${expected.map(([type]) => type).join(' and ')}`, async (t) => {
    const world = await startWorld(t)
    const sent = message(world, far(digits))
    const { status, body } = await world.ask('POST', '/rich_messages', sent)
    t.equal(status, 200)
    t.same(body.data, { id: sent.id, conversation_id: conversation, status: 'queued' })
    const events = await eventsOf(world, expected.length)
    const seen = events.map(({ event_type, data }) => [event_type, data.message['status'], data.message['service']])
    t.same(seen.toSorted(), expected.toSorted())
    for (const { id, event_type, data } of events) {
      t.match(id, /^evt_[0-9a-f]{32}$/)
      t.match(data, {
        message: { conversation_id: conversation, remote_number: far(digits) },
        agent_identities: [{ id: 'identity-1' }],
      })
      t.equal(data.message['id'] === sent.id, event_type !== 'rmsg.received')
      t.equal(data.reaction === null, event_type !== 'rmsg.reaction_received')
      t.equal(data.message['error_code'] === null, event_type !== 'rmsg.delivery_failed')
    }
    const reaction = events.find(({ event_type }) => event_type === 'rmsg.reaction_received')?.data.reaction
    if (reaction) t.match(reaction, { reaction: 'love', target_message_id: sent.id })
  })

t.test('the phone …0037 reports delivered before sent, each twice with the same bytes', async (t) => {
  const world = await startWorld(t)
  await send(world, far('0037'))
  world.clock.advance(700)
  await until(() => world.events.length === 2)
  world.clock.advance(1000)
  await until(() => world.events.length === 4)
  const bodies = world.events.map(({ body }) => body)
  t.same(
    world.events.map((event) => written(event).event_type),
    ['rmsg.delivered', 'rmsg.delivered', 'rmsg.sent', 'rmsg.sent'],
  )
  t.equal(bodies[0], bodies[1])
  t.equal(bodies[2], bodies[3])
})

t.test('the simulated provider refuses malformed rich messages', async (t) => {
  const world = await startWorld(t)
  t.equal((await send(world, far('0035'))).status, 422)
  t.equal((await send(world, far('0036'))).status, 503)
  const fields = ['id', 'conversation_id', 'identity_id', 'to', 'text', 'webhook_url']
  for (const name of fields) t.equal((await send(world, far('0030'), { [name]: null })).status, 422, name)
  t.equal((await send(world, far('0030'), { text: '🚲'.repeat(18_996) })).status, 200)
  t.equal((await send(world, far('0030'), { text: '🚲'.repeat(18_997) })).status, 422)
  t.equal((await send(world, far('0030'), { id: 'message 1' })).status, 422)
  t.equal((await send(world, far('0030'), { webhook_url: 'http://provider.example/' })).status, 422)
})

t.test('a rich message that is sent twice is delivered once', async (t) => {
  const world = await startWorld(t)
  const id = randomUUID()
  t.equal((await send(world, far('0033'), { id })).status, 200)
  t.equal((await send(world, far('0033'), { id })).status, 200)
  t.equal((await eventsOf(world, 1)).length, 1)
})

t.test('events of rich messages are signed, and are sent again if they were not accepted', async (t) => {
  const world = await startWorld(t)
  world.answers.push(503)
  await send(world, far('0033'))
  world.clock.advance(1000)
  await until(() => world.events.length === 1)
  await pause()
  world.clock.advance(1000)
  await until(() => world.events.length === 2)
  const head = Buffer.from('302a300506032b6570032100', 'hex')
  const der = Buffer.concat([head, Buffer.from(world.simulator.publicKey, 'base64')])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  for (const { headers, body } of world.events) {
    const signature = Buffer.from(String(headers['telnyx-signature-ed25519']), 'base64')
    t.ok(verify(null, Buffer.from(`${String(headers['telnyx-timestamp'])}|${body}`), key, signature))
  }
  t.equal(world.events[0]?.body, world.events[1]?.body)
})
