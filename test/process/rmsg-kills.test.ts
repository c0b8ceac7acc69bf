/**
 * Sends events for rich messages while the process is killed again and again. Each subscription must receive each
 * matching event with the provider's bytes. It may receive an event again only if its answer was lost. Each message
 * must end in its final state. Two libraries verify everything sent. `make test-all LANE=webhooks` runs the test with
 * more kills and events.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { freshDataDir } from '../installation.ts'
import { call } from '../platform/setup.ts'
import { random, seed } from '../random.ts'
import {
  insertMessage,
  type MessageOfEvent,
  masterKey,
  outboundEvent,
  postEvent,
  receivedEvent,
  type WrittenEvent,
} from '../rmsg/provider-events.ts'
import { type Received, startReceiver } from '../webhooks/receiver.ts'
import { isFullSize } from '../webhooks/served.ts'
import { nodeVerifier, pythonVerifier } from '../webhooks/verifiers.ts'
import { openDatabase } from './database.ts'
import { startParley } from './parley.ts'

/** One round sends several sets. A set has six events: one inbound message, and the events for two sent messages. */
const [kills, setsOfRound] = isFullSize ? [12, 4] : [4, 2]
const attemptsMax = 40
/**
 * The longest wait before a kill. The slow receiver delays its answers, so it gets only some events at once and the
 * awaited count may never come. Its attempts time out after 10 s.
 */
const untilMs = 5_000

t.setTimeout(isFullSize ? 600_000 : 240_000)
const env = { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8', PARLEY_MASTER_KEY: masterKey }
const dataDir = freshDataDir()
let parley = await startParley(env, dataDir)
t.teardown(() => parley.remove())
const sql = openDatabase(dataDir)
t.teardown(() => sql.end({ timeout: 1 }))
const [number] = await sql<[{ id: string; identity: string; organizationId: string }]>`
  select id, provider_identity as identity, organization_id as "organizationId" from rmsg_numbers where not test and organization_id is not null limit 1`
const { identity } = number

/** One attempt to deliver an event: its count for this event (1 is the first), and the receiver's response status. */
type Taken = { attempt: number; status: number }
type Far = { name: string; deliveries: Received[]; taken: Map<string, Taken[]> }
const attempts = new Map<string, number>()
/**
 * Delivery attempts whose response the provider did not receive because the process was killed. Each is written as `id
 * attempt`.
 */
const cut = new Set<string>()
/** While this is true, the receiver `slow` does not answer. */
let isHolding = false

type Wanted = { tags?: object; signingSecret?: string }
async function subscribe(name: string, statusOf: (times: number) => number, wanted: Wanted = {}): Promise<Far> {
  const far: Far = { name, deliveries: [], taken: new Map() }
  const receiver = await startReceiver((response, received) => {
    const id = String(received.headers['webhook-id'])
    const times = far.taken.get(id) ?? []
    const status = statusOf(times.length)
    far.deliveries.push(received)
    far.taken.set(id, [...times, { attempt: attempts.get(id) ?? 0, status }])
    if (name !== 'slow' || !isHolding) response.writeHead(status).end()
  })
  t.teardown(() => receiver.close())
  const made = await call(parley, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: receiver.url, ...wanted })
  if (made.status !== 201) throw new Error(made.text)
  return far
}

const customSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const quick = await subscribe('quick', () => 204)
const failing = await subscribe('failing', (times) => (times === 0 ? 503 : 200))
const slow = await subscribe('slow', () => 200, { signingSecret: customSecret })
const tagged = await subscribe('tagged', (times) => (times === 0 ? 500 : 200), { tags: { team: 'shop' } })
const fars = [quick, failing, slow, tagged]

/** `isTagged` is true if the event's message has the subscription's tag. */
type SentEvent = WrittenEvent & { isTagged: boolean }
/** The expected final state for each message, by its id. */
const ends = new Map<string, { status: string; channel?: string }>()

async function setOfEvents(text: string): Promise<SentEvent[]> {
  const [good, bad] = [
    await insertMessage(sql, number, { team: 'shop', order: text }),
    await insertMessage(sql, number, { team: 'Shop' }),
  ]
  ends.set(good.id, { status: 'delivered', channel: 'sms' })
  // The failure may arrive before the event that names a channel, so the channel is not expected.
  ends.set(bad.id, { status: 'error' })
  const of = (message: MessageOfEvent, type: string, status: string, service: string) => ({
    ...outboundEvent(identity, message, { type: `rmsg.${type}`, status, service }),
    isTagged: message === good,
  })
  return [
    { ...receivedEvent(identity, text), isTagged: false },
    of(good, 'sent', 'accepted', 'rmsg'),
    of(good, 'delivered', 'delivered', 'sms'),
    of(good, 'reaction_received', 'delivered', 'sms'),
    of(bad, 'sent', 'sent', 'rmsg'),
    of(bad, 'delivery_failed', 'error', 'rmsg'),
  ]
}

const matchesOf = (far: Far, events: readonly SentEvent[]) =>
  far === tagged ? events.filter(({ isTagged }) => isTagged) : events
const matchesCount = (events: readonly SentEvent[]) => fars.reduce((sum, far) => sum + matchesOf(far, events).length, 0)

async function attempt(event: WrittenEvent): Promise<number | null> {
  const number = (attempts.get(event.id) ?? 0) + 1
  attempts.set(event.id, number)
  const status = await postEvent(parley.url, event)
  if (status === null) cut.add(`${event.id} ${number}`)
  return status
}

/** Sends the event again until it is accepted. Returns the statuses of the refusals before that. */
async function attemptUntilTaken(event: WrittenEvent): Promise<Set<number | null>> {
  const refused = new Set<number | null>()
  for (let tries = 0; tries < attemptsMax; tries++) {
    const status = await attempt(event)
    if (status === 200) return refused
    refused.add(status)
    // Ends the claim of a killed process at once, although a claim usually lasts 15 s.
    if (status === 503) await sql`update webhook_events set working_until = now() where provider_event_id = ${event.id}`
  }
  throw new Error('the event is not taken')
}

const deliveries = () => fars.reduce((sum, far) => sum + far.deliveries.length, 0)

t.test(`${kills} kills during ${setsOfRound * 6} events lose no event (PARLEY_TEST_SEED=${seed})`, async (t) => {
  const next = random(seed)
  const sent: SentEvent[] = []
  const refusals = new Set<number | null>()
  for (let killed = 0; killed < kills; killed++) {
    const sets = Array.from({ length: setsOfRound }, (_, at) => setOfEvents(`Grüße 👋 ${killed} ${at}`))
    const events = (await Promise.all(sets)).flat()
    sent.push(...events)
    const before = deliveries()
    // In the first round the kill comes before any delivery, and in the second round once all receivers except the slow
    // one have answered.
    const part = killed === 0 ? 0 : killed === 1 ? 1 : next()
    isHolding = true
    const first = Promise.all(events.map(attempt))
    const endMs = performance.now() + untilMs
    while (deliveries() - before < Math.floor(part * matchesCount(events)) && performance.now() < endMs) await sleep(1)
    await parley.kill()
    isHolding = false
    // The start may take longer than the claims last, so the claims are extended.
    await sql`update webhook_events set working_until = now() + interval '1 hour' where working_until > now()`
    t.ok((await first).includes(null), 'the kill met events under way')
    parley = await startParley(env, dataDir)
    for (const refused of await Promise.all(events.map(attemptUntilTaken)))
      for (const status of refused) refusals.add(status)
  }
  t.ok(refusals.has(502), 'a subscription that has not taken an event makes the provider send it again')
  t.ok(refusals.has(503), 'an event of a killed process is in work')
  t.same(
    [...refusals].filter((status) => status !== 502 && status !== 503),
    [],
  )
  const bytes = new Map(sent.map(({ id, body }) => [id, body]))
  let twice = 0
  for (const far of fars) {
    const { name, deliveries, taken } = far
    const altered = deliveries.filter(({ headers, body }) => !bytes.get(String(headers['webhook-id']))?.equals(body))
    t.equal(altered.length, 0, `${name}: the bytes of the provider`)
    const expected = matchesOf(far, sent).map(({ id }) => id)
    t.same([...taken.keys()].sort(), expected.sort(), `${name}: none is lost, and none is of others`)
    for (const [id, times] of taken) {
      t.equal(new Set(times.map(({ attempt }) => attempt)).size, times.length, `${name}: once for each attempt`)
      const good = times.filter(({ status }) => status < 300)
      twice += good.length - 1
      // Only the last attempt's answer may be known. Each earlier attempt must have been cut by a kill.
      const known = good.slice(0, -1).filter(({ attempt }) => !cut.has(`${id} ${attempt}`))
      t.same(known, [], `${name}: nothing goes to one that has taken it`)
    }
  }
  t.ok(twice > 0, 'what was under way at a kill comes again, under the same id')
  const [logged] = await sql`
    select count(*)::int as count, count(*) filter (where status = 'succeeded')::int as good from webhook_deliveries where call_id is null`
  t.same(logged, { count: matchesCount(sent), good: matchesCount(sent) })
  for (const [id, end] of ends) {
    const [row] = await sql`select status, channel from rmsg_messages where id = ${id}`
    t.match(row, end, 'the message is in its last state')
  }
  const again = sent[0] ?? receivedEvent(identity, 'x')
  const soFar = deliveries()
  t.equal(await attempt({ ...again, body: Buffer.concat([again.body, Buffer.from(' ')]) }), 200)
  t.equal(deliveries(), soFar, 'an event that all have taken is not sent again')
  t.comment(`${sent.length} events, ${kills} kills, 0 lost, ${twice} of ${soFar} deliveries repeated after a kill`)
})

t.test('if a process dies while handling an event, its claim on the event expires after 15 s', async (t) => {
  const event = receivedEvent(identity, 'Waits')
  isHolding = true
  const beganMs = performance.now()
  const first = attempt(event)
  while (slow.taken.get(event.id) === undefined && performance.now() - beganMs < untilMs) await sleep(1)
  await parley.kill()
  isHolding = false
  t.equal(await first, null)
  parley = await startParley(env, dataDir)
  const startedAfterMs = performance.now() - beganMs
  const refused = new Set<number | null>()
  let status = await attempt(event)
  for (; status !== 200 && performance.now() - beganMs < 60_000; status = await attempt(event)) {
    refused.add(status)
    await sleep(500)
  }
  t.equal(status, 200)
  t.ok(performance.now() - beganMs >= 15_000, 'nobody works on it before')
  if (startedAfterMs < 14_000) t.ok(refused.has(503))
  const answers = slow.taken.get(event.id) ?? []
  t.equal(answers.length, 2, 'the one whose answer was lost gets it again')
})

t.test('third-party Standard Webhooks libraries verify the delivered rich-message events', async (t) => {
  const own = (await call(parley, 'GET', '/v1/webhook-secret')).json<{ secret: string }>().secret
  for (const [far, secret] of [
    [quick, own],
    [failing, own],
    [slow, customSecret],
    [tagged, own],
  ] as const) {
    const signed = far.deliveries.map(({ headers, body }) => ({ headers: signatureOf(headers), body }))
    const forged = signed.slice(0, 1).map(({ headers, body }) => [
      { headers: { ...headers, 'webhook-id': `evt_${randomUUID()}` }, body },
      { headers, body: Buffer.concat([body, Buffer.from(' ')]) },
    ])
    const all = [...signed, ...forged.flat()]
    const expected = all.map((_, at) => at < signed.length)
    for (const { name, missing, verify } of [nodeVerifier(secret), await pythonVerifier(secret)])
      await t.test(`${far.name}: ${name}`, { skip: missing ?? false }, async (t) => t.same(await verify(all), expected))
  }
})

const signatureOf = (headers: NodeJS.Dict<string | string[]>) =>
  Object.fromEntries(
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, String(headers[name])]),
  )
