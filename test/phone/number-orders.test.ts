/** A number's `setupStatus` over a whole server: while it is ordered, when the order fails, and later. */
import t, { type Test } from 'tap'
import { forms } from '../numbers/forms.ts'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { until } from '../process/machine.ts'
import { send } from '../router/requests.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Row = {
  id: string
  e164: string
  nextChargeAt: string | null
  monthlyMicroUsd: string
  setupStatus: { status: string; issues: string[] }
}

const acme = await admin.organization('acme', { creditMicroUsd: 10_000_000 })
await call(acme, 'POST', '/v1/phone-numbers/kyb/submit', forms)
await until('the review is over', async () => {
  return (await call(acme, 'GET', '/v1/phone-numbers/kyb')).json<{ status: string }>().status === 'approved'
})

const path = (id: string) => `/v1/phone-numbers/${id}`
const get = async (id: string) => (await call(acme, 'GET', path(id))).json<Row>()
const credit = async () => {
  const [row] = await sql<{ credit: string }[]>`
    select credit_micro_usd::text as credit from organizations where id = ${acme.id}`
  return Number(row?.credit)
}
async function decided(id: string): Promise<void> {
  await sql`update phone_numbers set look_at = now() where id = ${id} and order_status = 'pending'`
  await until('the order is decided', async () => !(await get(id)).setupStatus.issues.includes('carrier_pending'))
}

async function buy(t: Test, e164: string): Promise<Row> {
  const bought = await call(acme, 'POST', '/v1/phone-numbers', { e164 })
  t.equal(bought.status, 201, bought.text)
  const row = bought.json<Row>()
  // Delays the next check of a pending order, so the order stays pending until the test checks it.
  await sql`update phone_numbers set look_at = now() + interval '1 hour' where id = ${row.id} and order_status = 'pending'`
  return row
}

t.test('an order that is pending at first ends with a number that is ready', async (t) => {
  const { id, e164, setupStatus } = await buy(t, '+12125550198')
  t.match(setupStatus, { status: 'action_required', outboundReady: false, issues: ['carrier_pending'] })
  t.equal(await credit(), 8_000_000, 'the number is paid at once')
  const dial = () =>
    call(acme, 'POST', '/v1/sessions/phone', { to: '+15005550001', from: e164, intent: { language: 'en' } })
  t.same(faultOf(await dial()), { status: 409, code: 'PHONE_NUMBER_NOT_READY' })
  const early = await call(acme, 'DELETE', path(id))
  t.same(faultOf(early), { status: 409, code: 'PHONE_NUMBER_NOT_READY' })
  t.match(early.text, /carrier_pending/)
  await decided(id)
  const ready = await get(id)
  t.match(ready, { setupStatus: { status: 'ready', outboundReady: true, issues: [] }, nextChargeAt: /^\d/ })
  t.equal(ready.monthlyMicroUsd, '1000000')
  t.match(faultOf(await dial()), { code: 'CARRIER_DIAL_FAILED' }, 'the carrier is asked')
  t.same((await call(acme, 'DELETE', path(id))).json(), { released: true })
  t.equal(await credit(), 8_000_000, 'no credit comes back')
})

t.test('if a pending order fails, its credit is refunded, and DELETE removes its number', async (t) => {
  const { id, setupStatus } = await buy(t, '+12125550197')
  t.match(setupStatus, { status: 'action_required', issues: ['carrier_pending'] })
  t.equal(await credit(), 6_000_000)
  await decided(id)
  const failed = { status: 'action_required', outboundReady: false, issues: ['carrier_order_failed'] }
  const row = await get(id)
  t.match(row, { setupStatus: failed, nextChargeAt: null })
  t.equal(row.monthlyMicroUsd, '0')
  t.equal(await credit(), 8_000_000)
  t.same((await call(acme, 'DELETE', path(id))).json(), { released: true })
  t.match(faultOf(await call(acme, 'GET', path(id))), { status: 404 })
})

t.test('if the carrier refuses an order, no number is stored, and nothing is charged', async (t) => {
  const refused = await call(acme, 'POST', '/v1/phone-numbers', { e164: '+12125550199' })
  t.same(faultOf(refused), { status: 409, code: 'PHONE_NUMBER_UNAVAILABLE' })
  t.same((await call(acme, 'GET', '/v1/phone-numbers')).json(), [])
  t.equal(await credit(), 8_000_000)
})

t.test('if the carrier has refused an order, the same Idempotency-Key places no second order', async (t) => {
  const order = () =>
    send(acme, '/v1/phone-numbers', {
      method: 'POST',
      body: JSON.stringify({ e164: '+12125550199' }),
      headers: { 'content-type': 'application/json', 'idempotency-key': 'order-1' },
    })
  const [first, repeat] = [await order(), await order()]
  t.same([first.status, repeat.status], [409, 409])
  t.equal(repeat.text, first.text, 'the same request id too')
  t.equal(repeat.headers.get('idempotent-replayed'), 'true')
})

t.test('an overdue number works and has the issue payment_overdue, but a suspended number does not work', async (t) => {
  const { id } = await buy(t, '+12125550101')
  await sql`update phone_numbers set overdue_since = now() where id = ${id}`
  t.match(await get(id), { setupStatus: { status: 'ready', outboundReady: true, issues: ['payment_overdue'] } })
  await sql`update phone_numbers set suspended_at = now(), order_status = 'done' where id = ${id}`
  t.match(await get(id), { setupStatus: { status: 'suspended', outboundReady: false, issues: ['payment_overdue'] } })
})

t.test('a number whose trunk does not answer shows this as an issue, and may still place calls', async (t) => {
  const test = await admin.key(acme.id, { test: true })
  const connection = { name: 'Trunk', outbound: { host: 'sip.example.com' } }
  const made = await call(test, 'POST', '/v1/phone-numbers/sip-connections', connection)
  const sipConnectionInstallationId = made.json<{ id: string }>().id
  const wanted = { e164: '+493012345678', sipConnectionInstallationId, direction: 'outbound' }
  const { id } = (await call(test, 'POST', '/v1/phone-numbers/import', wanted)).json<Row>()
  const setup = async () => (await call(test, 'GET', path(id))).json<Row>().setupStatus
  t.match(await setup(), { status: 'ready', sipConnectionReady: false, issues: [] }, 'nobody has called yet')
  await sql`update sip_connections set status = 'failing'`
  t.match(await setup(), { status: 'ready', sipConnectionReady: false, issues: ['sip_connection_failing'] })
  await sql`update sip_connections set status = 'ready'`
  t.match(await setup(), { status: 'ready', sipConnectionReady: true, issues: [] })
})
