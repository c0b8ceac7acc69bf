/** Tests message events at subscriptions: who receives them, bytes, signature, repeated attempts, and the log. */
import { createHmac } from 'node:crypto'
import t, { type Test } from 'tap'
import { ContractValidators } from '../../codegen/contract-validators.ts'
import { call, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { postJson } from '../router/requests.ts'
import { inOrder, ok, type Received, type Receiver, startReceiver, status } from '../webhooks/receiver.ts'

const { parley } = await startOwnAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })
const sql = openDatabase(parley)
t.teardown(() => sql.end())

const made = await call(parley, 'POST', '/v1/agents', {
  name: 'Shop',
  systemPrompt: 'x',
  intent: { language: 'en' },
  rmsg: { enabled: true, mode: 'dedicated' },
})
const agent = made.json<{ id: string }>().id
const far = (digits: string) => `+1500555${digits}`
const send = async (digits: string, tags: object = {}) => {
  const answer = await postJson(parley, `/v1/rmsg/${agent}/messages`, { to: far(digits), text: 'Ready.', tags })
  if (answer.status !== 202) throw new Error(answer.text)
  return answer.json<{ messageId: string; conversationId: string; phoneNumberId: string }>()
}
const signingSecret = 'a secret of the subscription'
const subscribe = (url: string, tags: object = {}) =>
  call(parley, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url, tags, signingSecret })

type Described = { webhooks: Record<string, { post: { parameters: { name: string }[] } }> }
const served = await call(parley, 'GET', '/openapi/platform.json')
const { webhooks: described } = served.json<Described>()
const validators = new ContractValidators(served.text)

/** Asserts that the event's type, body and headers are as in the served contract. */
function isAsInDocument(t: Test, one: Received): void {
  const { event_type: type } = eventIn(one)
  const validate = validators.payload(type)
  t.ok(validate?.(eventIn(one)), `${type} ${JSON.stringify(validate?.errors)}`)
  const names = described[type]?.post.parameters.map(({ name }) => name) ?? []
  const own = Object.keys(one.headers).filter((name) => name.startsWith('webhook-') || name.startsWith('x-service-'))
  t.same(new Set(names), new Set(own), `the headers of ${type}`)
}

type Event = { id: string; event_type: string; data: { message: Record<string, unknown>; reaction: object | null } }
const eventIn = ({ body }: Received) => JSON.parse(body.toString()) as Event
const typesAt = ({ received }: Receiver) => received.map((one) => eventIn(one).event_type)

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (await isDone()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('it has not come so far')
}

async function receiver(t: { teardown(run: () => unknown): void }, ...answers: Parameters<typeof startReceiver>) {
  const started = await startReceiver(...answers)
  t.teardown(async () => {
    await call(parley, 'DELETE', '/v1/rmsg-phone-numbers/webhook')
    await started.close()
  })
  return started
}

t.test('a subscription with tags gets only events of messages with these tags, else all events', async (t) => {
  const [all, tagged, other] = [await receiver(t), await receiver(t), await receiver(t)]
  await subscribe(all.url)
  await subscribe(tagged.url, { team: 'shop' })
  await subscribe(other.url, { team: 'Shop' })
  const sent = await send('0038', { team: 'shop', order: '4711' })
  await until(() => all.received.length === 4 && tagged.received.length === 3)
  t.same(new Set(typesAt(all)), new Set(['rmsg.sent', 'rmsg.delivered', 'rmsg.received', 'rmsg.reaction_received']))
  t.same(new Set(typesAt(tagged)), new Set(['rmsg.sent', 'rmsg.delivered', 'rmsg.reaction_received']))
  t.same(other.received, [], 'tags are case-sensitive')
  for (const one of all.received) {
    const { headers, body } = one
    const event = eventIn(one)
    t.equal(headers['webhook-id'], event.id)
    const signed = `${event.id}.${String(headers['webhook-timestamp'])}.${body.toString()}`
    t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', signingSecret).update(signed).digest('base64')}`)
    t.match(headers, {
      'x-service-phone-number-id': sent.phoneNumberId,
      'x-service-phone-number': /^\+1500555020/,
      'x-service-provider-identity-id': /^simulated-/,
      'x-service-event-type': event.event_type,
    })
    t.match(event.data.message, { conversation_id: sent.conversationId, remote_number: far('0038') })
    const same = tagged.received.find((other) => other.headers['webhook-id'] === event.id)
    if (same) t.ok(same.body.equals(body), 'all get the same bytes')
    isAsInDocument(t, one)
  }
})

t.test('an event is sent again only to subscribers that have not accepted it', async (t) => {
  const [good, bad] = [await receiver(t), await receiver(t, inOrder(status(500), ok))]
  await subscribe(good.url)
  await subscribe(bad.url)
  const { messageId } = await send('0033')
  await until(() => bad.received.length === 2)
  for (const one of bad.received) isAsInDocument(t, one)
  t.equal(good.received.length, 1)
  t.equal(bad.received[0]?.headers['webhook-id'], bad.received[1]?.headers['webhook-id'])
  t.ok(bad.received[0]?.body.equals(bad.received[1]?.body ?? Buffer.alloc(0)))
  const eventId = String(bad.received[0]?.headers['webhook-id'])
  type Page = { data: Record<string, unknown>[]; endpointOptions: object[] }
  const read = async () => (await call(parley, 'GET', `/v1/webhook-deliveries?eventId=${eventId}`)).json<Page>()
  await until(async () => (await read()).data.every(({ status }) => status === 'succeeded'))
  const page = await read()
  t.equal(page.data.length, 2)
  const logged = { endpointKind: 'rmsg', event: 'rmsg.delivery_failed', sessionId: null, canRedeliver: false, eventId }
  const of = (url: string) => page.data.find(({ endpointName }) => endpointName === url)
  t.match(of(good.url), { ...logged, attempts: 1, httpStatus: 204, endpointDeleted: false })
  t.match(of(bad.url), { ...logged, attempts: 2, httpStatus: 204 })
  const id = String(of(bad.url)?.['id'])
  const whole = (await call(parley, 'GET', `/v1/webhook-deliveries/${id}`)).json<object>()
  t.match(whole, {
    requestPayload: { id: eventId, data: { message: { id: messageId, status: 'declined' } } },
    attempts: [
      { responseStatus: 500, error: 'http_status' },
      { responseStatus: 204, error: null },
    ],
  })
  t.equal((await call(parley, 'POST', `/v1/webhook-deliveries/${id}/redeliver`)).status, 409)
})

t.test('events that the provider sends twice or out of order are forwarded once', async (t) => {
  const all = await receiver(t)
  await subscribe(all.url)
  const { messageId } = await send('0037')
  await until(() => all.received.length >= 2)
  await new Promise((resolve) => setTimeout(resolve, 500))
  t.same(typesAt(all), ['rmsg.delivered', 'rmsg.sent'])
  const [row] = await sql`select status, channel from rmsg_messages where id = ${messageId}`
  t.same(row, { status: 'delivered', channel: 'rmsg' }, 'the late event moves nothing')
})

t.test('an event without a subscription is accepted and not logged', async (t) => {
  const before = (await sql`select from webhook_events`).length
  const { messageId } = await send('0033')
  await until(
    async () => (await sql`select from rmsg_messages where id = ${messageId} and status = 'declined'`).length === 1,
  )
  t.equal((await sql`select from webhook_events`).length, before)
})

t.test('if the process that claims an event dies, the event is sent again after the claim expires', async (t) => {
  const all = await receiver(t, inOrder(status(500), ok))
  await subscribe(all.url)
  await send('0033')
  await until(() => all.received.length === 1)
  await until(
    async () =>
      (
        await sql`update webhook_events set working_until = now() + interval '2 s'
      where not is_taken and provider_event_id is not null`
      ).count === 1,
  )
  await until(() => all.received.length === 2)
  t.equal(all.received[1]?.headers['webhook-id'], all.received[0]?.headers['webhook-id'], 'the same event')
  await until(async () => (await sql`select from webhook_events where not is_taken`).count === 0)
})
