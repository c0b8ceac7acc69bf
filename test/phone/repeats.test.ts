/** Tests call requests that a client repeats with the same Idempotency-Key. */
import t from 'tap'
import { openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { send, type Target } from '../router/requests.ts'
import { callWhen, startPhones } from './phones.ts'

const phones = await startPhones()
const { clock } = phones
t.teardown(() => phones.close())
const sql = openDatabase(phones.server)
t.teardown(() => sql.end())

const dial = (key: string, body: object) =>
  send(phones, '/v1/sessions/phone', {
    method: 'POST',
    body: JSON.stringify({ agentId: phones.agentId, ...body }),
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  })
/** A phone that rings and is never answered. */
const to = '+15005550002'
const callsCount = async () => (await sql`select from calls`).length

t.test('a repeated request calls no phone, and gets the answer of the first request', async (t) => {
  const first = await dial('order-1', { to })
  t.equal(first.status, 200, first.text)
  t.equal(first.headers.get('idempotent-replayed'), null)
  const count = await callsCount()
  const repeat = await dial('order-1', { to })
  t.equal(repeat.status, 200)
  t.same(repeat.json(), first.json())
  t.equal(repeat.headers.get('idempotent-replayed'), 'true')
  t.equal(await callsCount(), count)
  const other = await dial('order-2', { to })
  t.not(other.text, first.text, 'another key is another call')
})

t.test('IDEMPOTENCY_CONFLICT: the idempotency key was used for another body', async (t) => {
  await dial('order-3', { to })
  const answer = await dial('order-3', { to, metadata: { more: true } })
  t.match([answer.status, answer.json()], [409, { code: 'IDEMPOTENCY_CONFLICT' }])
})

t.test('IDEMPOTENCY_IN_PROGRESS: two requests at once make one call', async (t) => {
  const count = await callsCount()
  const answers = await Promise.all(['', '', ''].map(() => dial('order-4', { to })))
  t.equal(await callsCount(), count + 1)
  for (const { status, headers, text } of answers)
    if (status !== 200) t.match([status, headers.get('retry-after'), text], [409, '1', /IDEMPOTENCY_IN_PROGRESS/])
  await sql`update idempotency_keys set answer_status = null`
  const late = await dial('order-4', { to })
  t.match([late.status, late.json()], [409, { code: 'IDEMPOTENCY_IN_PROGRESS' }])
  t.equal(late.headers.get('retry-after'), '1')
})

t.test('if the answer of the first request is lost, a repeat calls no phone and need not wait for hours', async (t) => {
  const count = await callsCount()
  await dial('lost-1', { to })
  // The process has died before it stored the answer.
  await sql`update idempotency_keys set status = 'dispatched', answer_status = null, answer_body = null`
  const early = await dial('lost-1', { to })
  t.match([early.status, early.json()], [409, { code: 'IDEMPOTENCY_IN_PROGRESS' }])
  await clock.advance(10_000)
  const late = await dial('lost-1', { to })
  t.match(
    [late.status, late.json()],
    [503, { code: 'SERVICE_UNAVAILABLE', error: /with a new Idempotency-Key if not/ }],
  )
  t.equal(late.headers.get('x-should-retry'), 'false')
  t.equal(await callsCount(), count + 1)
})

t.test('if an answer cannot be stored at first, it is stored later, and a repeat gets it', async (t) => {
  await sql.unsafe(`
    create function full_disk() returns trigger language plpgsql as $$
      begin raise exception using errcode = '53100'; end $$;
    create trigger full_disk before update on idempotency_keys for each row when (new.answer_status is not null)
      execute function full_disk()`)
  const first = await dial('late-1', { to })
  t.equal(first.status, 200, first.text)
  const count = await callsCount()
  t.equal((await dial('late-1', { to })).status, 409)
  await sql.unsafe('drop function full_disk cascade')
  await clock.advance(3000)
  const repeat = await dial('late-1', { to })
  t.same([repeat.status, repeat.json()], [200, first.json()])
  t.equal(repeat.headers.get('idempotent-replayed'), 'true')
  t.equal(await callsCount(), count)
})

t.test('if a call is refused before the carrier is asked, its idempotency key stays unused', async (t) => {
  t.equal((await dial('order-5', { to: '+15550001111' })).status, 400)
  t.equal((await dial('order-5', { to, from: '+15005550199' })).status, 400)
  t.equal((await dial('order-5', { to })).status, 200)
})

t.test('if the carrier refused a call, a repeated request gets the same message', async (t) => {
  const first = await dial('order-6', { to: '+15005550001' })
  t.equal(first.status, 502)
  const count = await callsCount()
  const repeat = await dial('order-6', { to: '+15005550001' })
  t.same([repeat.status, repeat.text], [502, first.text])
  t.equal(repeat.headers.get('idempotent-replayed'), 'true')
  t.equal(await callsCount(), count)
})

t.test('after each kind of refusal before the carrier is asked, the idempotency key stays unused', async (t) => {
  const agentId = 'agent_0123456789012345678901'
  t.equal((await dial('order-8', { to, agentId })).status, 404)
  await sql`update phone_numbers set suspended_at = now()`
  t.equal((await dial('order-8', { to, from: phones.number })).status, 409)
  await sql`update phone_numbers set suspended_at = null`
  const credit = (microUsd: number) => sql`update organizations set credit_micro_usd = ${microUsd}`
  await credit(0)
  t.equal((await dial('order-8', { to })).status, 402)
  await credit(10_000_000)
  await sql`update organizations set max_sessions = 1`
  t.equal((await dial('order-8', { to })).status, 429)
  await sql`update organizations set max_sessions = null`
  const taken = await dial('order-8', { to })
  t.same([taken.status, taken.headers.get('idempotent-replayed')], [200, null], taken.text)
})

t.test('an idempotency key has 1 to 256 bytes', async (t) => {
  t.equal((await dial('k'.repeat(256), { to })).status, 200)
  t.equal((await dial('k'.repeat(257), { to })).status, 400)
  t.equal((await dial('k', { to })).status, 200)
  t.equal((await dial('', { to })).status, 400)
})

t.test('an idempotency key belongs to one operation and organization, and to live or test data', async (t) => {
  const key = 'order-9'
  const first = await dial(key, { to })
  t.equal(first.status, 200, first.text)
  const headers = { 'content-type': 'application/json', 'idempotency-key': key }
  const buy = (target: Target, e164: string) =>
    send(target, '/v1/phone-numbers', { method: 'POST', body: JSON.stringify({ e164 }), headers })
  const bought = await buy(phones, '+12125550120')
  t.same([bought.status, bought.headers.get('idempotent-replayed')], [201, null], bought.text)
  const admin = await openAdministration(phones.server)
  t.teardown(() => admin.close())
  const [own] = await sql<{ id: string }[]>`select organization_id as id from calls limit 1`
  const others = [(await admin.organization('other')).id, own?.id ?? '']
  for (const [at, organizationId] of others.entries()) {
    const answer = await buy({ ...(await admin.key(organizationId, { test: true })), clock }, `+1212555012${at + 1}`)
    t.same([answer.status, answer.headers.get('idempotent-replayed')], [201, null], answer.text)
  }
  t.equal((await buy(phones, '+12125550120')).headers.get('idempotent-replayed'), 'true')
})

t.test('an idempotency key is free again after 24 hours', async (t) => {
  const first = await dial('order-10', { to })
  const [row] = await sql<{ hours: number }[]>`
    select round(extract(epoch from expires_at - admitted_at) / 3600)::int as hours from idempotency_keys
    order by admitted_at desc limit 1`
  t.equal(row?.hours, 24)
  await sql`update idempotency_keys set expires_at = ${new Date(clock.nowMs())}`
  const later = await dial('order-10', { to })
  t.same([later.status, later.headers.get('idempotent-replayed')], [200, null])
  t.not(later.text, first.text)
})

t.test('a transfer that is requested twice with one idempotency key calls the recipient once', async (t) => {
  const started = await dial('order-7', { to: '+15005550006' })
  const { sessionId } = started.json<{ sessionId: string }>()
  await callWhen(phones, sessionId, ({ status }) => status === 'in_progress')
  const transfer = (body: object, key: string, path = 'warm') =>
    send(phones, `/v1/calls/${sessionId}/transfers/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    })
  t.equal((await transfer({ to: '+15550001111' }, 'transfer-1')).status, 400, 'a refusal leaves the key free')
  const first = await transfer({ to }, 'transfer-1')
  t.equal(first.status, 201, first.text)
  const repeat = await transfer({ to }, 'transfer-1')
  t.same([repeat.status, repeat.text], [201, first.text])
  t.equal(repeat.headers.get('idempotent-replayed'), 'true')
  t.match((await transfer({ to, ringingTimeout: 5 }, 'transfer-1')).json(), { code: 'IDEMPOTENCY_CONFLICT' })
  t.match((await transfer({ to }, 'transfer-2')).json(), { code: 'TRANSFER_IN_PROGRESS' })
  const cancel = `${first.json<{ id: string }>().id}/cancel`
  const cancelled = await transfer({}, 'transfer-3', cancel)
  t.match([cancelled.status, cancelled.json()], [200, { status: 'cancelled' }])
  t.equal((await transfer({}, 'transfer-3', cancel)).text, cancelled.text)
  t.equal((await sql`select from transfers`).length, 1)
})
