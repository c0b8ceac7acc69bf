/** Tests repeated transfer requests: a repeated request places no second call. */
import t from 'tap'
import { unknown } from '../platform/isolation-table.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { send } from '../router/requests.ts'
import { hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const phones = await startPhones()
t.teardown(() => phones.close())
const sql = openDatabase(phones.server)
t.teardown(() => sql.end())

/** This phone rings and is never answered. */
const rings = '+15005550002'
const refused = '+15005550001'
/** This phone is asked whether it accepts the call, and says nothing. */
const undecided = '+15005550019'

type Attempt = { id: string; status: string; transfer_to: string }
const attemptsOf = (row: PhoneCallRow) => row['transfers'] as Attempt[]

async function talking(): Promise<string> {
  const started = await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550006', agentId: phones.agentId })
  const { sessionId } = started.json<{ sessionId: string }>()
  await callWhen(phones, sessionId, ({ status }) => status === 'in_progress')
  return sessionId
}

const ask = (id: string, action: string, key: string, body: object) =>
  send(phones, `/v1/calls/${id}/transfers/${action}`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
  })

async function end(id: string): Promise<PhoneCallRow> {
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  return callWhen(phones, id, hasEnded)
}

t.test('IDEMPOTENCY_IN_PROGRESS: two transfer requests at once make one transfer', async (t) => {
  const id = await talking()
  const answers = await Promise.all(['', '', ''].map(() => ask(id, 'blind', 'at-once', { to: rings })))
  const made = answers.filter(({ status }) => status === 201)
  t.ok(made.length > 0, 'one is carried out')
  for (const { status, headers, text } of answers)
    if (status !== 201) t.match([status, headers.get('retry-after'), text], [409, '1', /IDEMPOTENCY_IN_PROGRESS/])
  await sql`update idempotency_keys set answer_status = null`
  const late = await ask(id, 'blind', 'at-once', { to: rings })
  t.match([late.status, late.json(), late.headers.get('retry-after')], [409, { code: 'IDEMPOTENCY_IN_PROGRESS' }, '1'])
  t.equal(attemptsOf(await end(id)).length, 1)
})

t.test('if a transfer is refused before the carrier is asked, its idempotency key stays unused', async (t) => {
  const id = await talking()
  t.equal((await ask(id, 'warm', 'refused', { to: rings, screeningTimeout: 4 })).status, 400)
  t.equal((await ask(id, 'warm', 'refused', { to: rings, from: '+15005550199' })).status, 400)
  const first = await ask(id, 'warm', 'first', { to: rings, ringingTimeout: 120 })
  t.equal(first.status, 201, first.text)
  t.match((await ask(id, 'warm', 'refused', { to: undecided })).json(), { code: 'TRANSFER_IN_PROGRESS' })
  const { id: attempt } = first.json<Attempt>()
  const early = await ask(id, `${attempt}/complete`, 'complete', {})
  t.match(early.json(), { code: 'TRANSFER_STATE_CONFLICT' })
  t.equal((await ask(id, `${attempt}/cancel`, 'cancel', {})).status, 200)
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  const asked = { to: undecided, screeningTimeout: 120, voicemailDetection: { mode: 'disabled' } }
  const second = await ask(id, 'warm', 'refused', asked)
  t.equal(second.status, 201, second.text)
  const { id: newer } = second.json<Attempt>()
  await callWhen(phones, id, (row) => attemptsOf(row).at(-1)?.status === 'screening')
  const completed = await ask(id, `${newer}/complete`, 'complete-2', {})
  t.equal(completed.status, 200, completed.text)
  const again = await ask(id, `${newer}/complete`, 'complete-2', {})
  t.same([again.status, again.text], [200, completed.text], 'as the first request was answered')
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  await end(id)
})

t.test('a transfer that the carrier refused is refused again when repeated, and no phone is called', async (t) => {
  const id = await talking()
  const blind = await ask(id, 'blind', 'blind-refused', { to: refused })
  t.match([blind.status, blind.json()], [502, { code: 'CARRIER_DIAL_FAILED', details: { sessionId: id } }])
  const again = await ask(id, 'blind', 'blind-refused', { to: refused })
  t.same([again.status, again.text, again.headers.get('idempotent-replayed')], [502, blind.text, 'true'])
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  const warm = await ask(id, 'warm', 'warm-refused', { to: refused })
  t.match([warm.status, warm.json()], [201, { status: 'failed', fallback: { action: 'return_to_assistant' } }])
  t.equal((await ask(id, 'warm', 'warm-refused', { to: refused })).text, warm.text)
  t.equal(attemptsOf(await end(id)).length, 2)
})

t.test('IDEMPOTENCY_CONFLICT: the idempotency key was used for another body or another call', async (t) => {
  const id = await talking()
  t.equal((await ask(id, 'warm', 'same', { to: rings })).status, 201)
  for (const [callId, body] of [
    [id, { to: rings, ringingTimeout: 30 }],
    [unknown.call, { to: rings }],
  ] as const)
    t.match((await ask(callId, 'warm', 'same', body)).json(), { code: 'IDEMPOTENCY_CONFLICT' })
  t.match((await ask(id, 'blind', 'same', { to: rings })).json(), { code: 'TRANSFER_IN_PROGRESS' })
  await end(id)
})
