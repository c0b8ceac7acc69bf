/**
 * A call may end in any transfer state without a hang-up by its phones: the credit is exhausted, the longest duration
 * is over, or the process has restarted.
 */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

/** This phone stays silent during the agent's speech and the screening question. */
const silent = '+15005550019'
const prices = [{ direction: 'outbound', prefix: '+1500555', microUsdPerMinute: 60_000 }]
const phones = await startPhones({ PARLEY_CARRIER_PRICES: JSON.stringify(prices) })
const sql = openDatabase(phones.server)
t.teardown(async () => {
  await sql.end()
  await phones.close()
})

type Attempt = { id: string; status: string; failure_cause: string | null }
const attemptsOf = (row: PhoneCallRow) => row['transfers'] as Attempt[]
const causesOf = (row: PhoneCallRow) => attemptsOf(row).map(({ status, failure_cause }) => failure_cause ?? status)

/** Starts a call and a transfer. Returns the call once its recipient is being asked; the recipient says nothing. */
async function asking(more: object = {}): Promise<PhoneCallRow> {
  await sql`update organizations set credit_micro_usd = 10000000`
  const body = { to: '+15005550006', agentId: phones.agentId, ...more }
  const started = await call(phones, 'POST', '/v1/sessions/phone', body)
  const id = started.json<{ sessionId: string }>().sessionId
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  const wanted = { to: silent, screeningTimeout: 120, voicemailDetection: { mode: 'disabled' } }
  const asked = await call(phones, 'POST', `/v1/calls/${id}/transfers/warm`, wanted)
  if (asked.status !== 201) throw new Error(asked.text)
  return callWhen(phones, id, (row) => attemptsOf(row).at(-1)?.status === 'screening')
}

const decide = (row: PhoneCallRow, action: 'complete' | 'cancel') =>
  call(phones, 'POST', `/v1/calls/${row.id}/transfers/${attemptsOf(row).at(-1)?.id}/${action}`, {})

/** Resolves once the rows of both legs have ended, so no further minute is charged. */
async function legsAreOver(row: PhoneCallRow): Promise<void> {
  await callWhen(phones, row.id, hasEnded)
  await phones.clock.until('the end of all legs', async () => {
    const open = await sql`select from call_legs where call_id = ${row.id} and ended_at is null`
    return open.length === 0
  })
}

t.test('if the credit ends while a recipient is asked to accept the call, both parties are hung up', async (t) => {
  const row = await asking()
  await sql`update organizations set credit_micro_usd = 0`
  const ended = await callWhen(phones, row.id, hasEnded)
  t.match(ended, { status: 'completed', end_reason: 'credit_exhausted' })
  t.same(causesOf(ended), ['caller_hung_up'])
  await legsAreOver(row)
})

t.test('if the credit is exhausted while two parties are connected, both are hung up', async (t) => {
  const row = await asking()
  t.equal((await decide(row, 'complete')).status, 200)
  await callWhen(phones, row.id, (now) => causesOf(now)[0] === 'completed')
  await sql`update organizations set credit_micro_usd = 0`
  t.match(await callWhen(phones, row.id, hasEnded), { status: 'completed', end_reason: 'credit_exhausted' })
  await legsAreOver(row)
})

t.test('a call ends at its longest duration even while its caller is on hold', async (t) => {
  const row = await asking({ maxDurationSeconds: 60 })
  const ended = await callWhen(phones, row.id, hasEnded)
  t.match(ended, { status: 'completed', end_reason: 'max_duration' })
  t.same(causesOf(ended), ['caller_hung_up'])
  await legsAreOver(row)
})

t.test('after a restart of the process a transfer of an ended call is a conflict', async (t) => {
  const row = await asking()
  t.equal((await decide(row, 'cancel')).status, 200)
  t.equal((await call(phones, 'POST', `/v1/calls/${row.id}/end`)).status, 200)
  await callWhen(phones, row.id, hasEnded)
  await sql`update calls set owner_id = 'a process before this one' where id = ${row.id}`
  for (const action of ['complete', 'cancel'] as const) {
    const answer = await decide(row, action)
    t.equal(answer.status, 409, answer.text)
    t.match(answer.json(), { code: 'TRANSFER_STATE_CONFLICT', details: { status: 'cancelled' } })
  }
})
