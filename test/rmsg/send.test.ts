/**
 * Tests rich messages from a number: limits, answers, provider refusals, repeats, and the effect of provider events.
 */
import t from 'tap'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { postJson, send, type Target } from '../router/requests.ts'
import { badFields, goodFields } from './message-bounds.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t, { PARLEY_RMSG_KEEP_REMOVED_SEND: 'true' })
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Number = { id: string; phoneNumber: string }
const [number] = (await call(parley, 'GET', '/v1/rmsg-phone-numbers')).json<[Number]>()
const path = `/v1/rmsg-phone-numbers/${number.id}/messages`
const far = (digits: string) => `+1500555${digits}`
const wanted = (digits: string, more: object = {}) => ({ to: far(digits), text: 'Your bicycle is ready.', ...more })
const post = (body: object, headers: Record<string, string> = {}, target: Target = parley) =>
  postJson(target, path, body, headers)
type Sent = { messageId: string; conversationId: string; status: string }

type Row = { status: string; channel: string | null; remote_number: string }
/** Returns the stored message once `isDone` returns true. */
async function messageWhen(id: string, isDone: (row: Row) => boolean): Promise<Row> {
  for (let tries = 0; tries < 1200; tries++) {
    const [row] = await sql<[Row]>`select status, channel, remote_number from rmsg_messages where id = ${id}`
    if (isDone(row)) return row
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('the message has not come so far')
}

t.test('sendNumberMessage: the answer is a snapshot of the queued message', async (t) => {
  const answer = await post(wanted('0031', { tags: { team: 'shop' } }))
  t.equal(answer.status, 202, answer.text)
  t.match(answer.json(), {
    messageId: /^[0-9a-f-]{36}$/,
    conversationId: /^[0-9a-f-]{36}$/,
    phoneNumberId: number.id,
    to: far('0031'),
    attemptedChannel: 'rmsg',
    channel: null,
    fallbackApplied: null,
    deliveryFinal: false,
    status: 'queued',
    tags: { team: 'shop' },
  })
  t.equal(answer.headers.get('deprecation'), '@1778889600')
  t.equal(answer.headers.get('sunset'), 'Fri, 14 Aug 2026 00:00:00 GMT')
  t.equal(answer.headers.get('link'), '</v1/rmsg/{agentId}/messages>; rel="successor-version"')
  const again = (await post(wanted('0031'))).json<Sent & { tags: object }>()
  t.equal(again.conversationId, answer.json<Sent>().conversationId, 'one conversation for a pair of numbers')
  t.not(again.messageId, answer.json<Sent>().messageId)
  t.same(again.tags, {})
  const other = (await post(wanted('0030'))).json<Sent>()
  t.not(other.conversationId, again.conversationId)
})

t.test("the provider's events change the message's state", async (t) => {
  const ends: [digits: string, status: string, channel: string | null][] = [
    ['0030', 'delivered', 'rmsg'],
    ['0031', 'delivered', 'sms'],
    ['0032', 'delivered', 'rcs'],
    ['0033', 'declined', null],
    ['0034', 'error', null],
    ['0037', 'delivered', 'rmsg'],
  ]
  const sent = await Promise.all(ends.map(async ([digits]) => (await post(wanted(digits))).json<Sent>()))
  for (const [at, [digits, status, channel]] of ends.entries()) {
    const row = await messageWhen(sent[at]?.messageId ?? '', (row) => row.status === status)
    t.match(row, { status, channel, remote_number: far(digits) })
  }
})

t.test('sendNumberMessage accepts each field only within its bounds', async (t) => {
  for (const more of goodFields)
    t.equal((await post(wanted('0030', more))).status, 202, JSON.stringify(more).slice(0, 80))
  for (const more of badFields) {
    const answer = await post(wanted('0030', more))
    t.match(faultOf(answer), { status: 400, code: 'VALIDATION_ERROR' }, JSON.stringify(more).slice(0, 80))
    t.ok(answer.json<{ issues: unknown[] }>().issues.length > 0)
  }
})

t.test("MESSAGE_SEND_FAILED passes on a provider's refusal, and a provider's failure is answered 502", async (t) => {
  const refused = await post(wanted('0035'))
  t.same(faultOf(refused), { status: 422, code: 'MESSAGE_SEND_FAILED' })
  const said = { providerStatus: 422, providerDetail: 'The number takes no messages.' }
  t.match(refused.json(), { ...said, details: said })
  const failed = await post(wanted('0036'))
  t.same(faultOf(failed), { status: 502, code: 'MESSAGE_SEND_FAILED' })
  t.match(failed.json(), { providerStatus: 503, providerDetail: String, details: { providerStatus: 503 } })
  const rows = await sql<Row[]>`
    select status, channel from rmsg_messages where remote_number in (${far('0035')}, ${far('0036')})`
  t.same(rows, [
    { status: 'error', channel: null },
    { status: 'error', channel: null },
  ])
})

const count = async () => (await sql`select from rmsg_messages`).length

t.test("a repeat sends nothing and gets the first request's answer", async (t) => {
  const headers = { 'idempotency-key': 'message-1' }
  const first = await post(wanted('0030'), headers)
  const before = await count()
  const repeat = await post(wanted('0030'), headers)
  t.same([repeat.status, repeat.text], [202, first.text])
  t.equal(repeat.headers.get('idempotent-replayed'), 'true')
  t.equal(await count(), before)
  const other = await post(wanted('0031'), headers)
  t.same(faultOf(other), { status: 409, code: 'IDEMPOTENCY_CONFLICT' })
  const refusedKey = { 'idempotency-key': 'message-2' }
  const refused = await post(wanted('0035'), refusedKey)
  const again = await post(wanted('0035'), refusedKey)
  t.same([again.status, again.text], [422, refused.text], 'the provider has been asked')
  const freeKey = { 'idempotency-key': 'message-3' }
  t.equal((await post(wanted('0030', { to: '+15550001111' }), freeKey)).status, 400)
  t.equal((await post(wanted('0030'), freeKey)).status, 202, 'a refusal before that leaves the key free')
})

t.test('sendNumberMessage needs the scope rmsg, and an active number of the organization', async (t) => {
  t.same(faultOf(await post(wanted('0030'), {}, { ...parley, key: '' })), { status: 401, code: 'UNAUTHORIZED' })
  const off = await admin.organization('without numbers', { scopes: ['rmsg'] })
  t.same(faultOf(await post(wanted('0030'), {}, off)), { status: 403, code: 'NOT_ENABLED_FOR_ORGANIZATION' })
  t.same(faultOf(await post(wanted('0030'), {}, await admin.key(off.id))), { status: 403, code: 'FORBIDDEN' })
  const other = await admin.organization('with a number', { scopes: ['rmsg'] })
  await admin.store.organizations.change(other.id, { rmsgEnabled: true })
  const own = await insertRmsgNumber(sql, { e164: '+15005550301', organizationId: other.id })
  const paused = await insertRmsgNumber(sql, { e164: '+15005550302', organizationId: other.id, status: 'paused' })
  const from = (id: string) => postJson(other, `/v1/rmsg-phone-numbers/${id}/messages`, wanted('0030'))
  t.equal((await from(own)).status, 202)
  const ids = [number.id, paused, '019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a80']
  const answers = await Promise.all(ids.map(from))
  for (const answer of answers) t.same(faultOf(answer), { status: 404, code: 'PHONE_NUMBER_NOT_FOUND' })
  const bodies = answers.map((answer) => ({ ...answer.json<object>(), requestId: '' }))
  t.equal(new Set(bodies.map((body) => JSON.stringify(body))).size, 1, 'all three are answered alike')
  await admin.store.organizations.change(other.id, { rmsgBackend: 'receive_only' })
  t.same(faultOf(await from(own)), { status: 422, code: 'UNSUPPORTED_BACKEND' })
})

t.test('receiveMessageWebhook: an unsigned event is refused', async (t) => {
  const { messageId } = (await post(wanted('0033'))).json<Sent>()
  const event = {
    id: 'evt_1',
    event_type: 'rmsg.delivered',
    timestamp: new Date().toISOString(),
    data: { message: { id: messageId, status: 'delivered', service: 'rmsg' }, agent_identities: [{ id: 'x' }] },
  }
  const forged = await send({ url: parley.url, key: '' }, '/carrier/simulator/messages', {
    method: 'POST',
    body: JSON.stringify(event),
    headers: { 'content-type': 'application/json', 'telnyx-timestamp': String(Math.floor(Date.now() / 1000)) },
  })
  t.equal(forged.status, 401)
  t.match(await messageWhen(messageId, ({ status }) => status === 'declined' || status === 'delivered'), {
    status: 'declined',
  })
})
