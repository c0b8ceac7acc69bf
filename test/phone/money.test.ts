/**
 * Tests the cost of whole calls over the simulated carrier: in the call report, in the credit, and if no credit is
 * left.
 */
import t from 'tap'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { hasEnded, type PhoneCallRow } from './call-rows.ts'
import { callWhen, startPhones } from './phones.ts'

const microUsdPerMinute = 60_000
const prices = [{ direction: 'outbound', prefix: '+1500555', microUsdPerMinute }]
const phones = await startPhones({ PARLEY_CARRIER_PRICES: JSON.stringify(prices) })
const sql = openDatabase(phones.server)
t.teardown(async () => {
  await sql.end()
  await phones.close()
})

type Line = { metric: string; leg?: string; quantity: number; costMicroUsd: string | null; priceSource: string | null }
type Paid = PhoneCallRow & { report: { cost_micro_usd: string | null; cost_breakdown: Line[] } }

const dial = async (to: string) => {
  const answer = await call(phones, 'POST', '/v1/sessions/phone', { to, agentId: phones.agentId })
  return answer.json<{ sessionId: string }>().sessionId
}
const credit = async () => {
  const [row] = await sql<{ credit: string }[]>`select credit_micro_usd::text as credit from organizations`
  return Number(row?.credit)
}
const carrierLines = ({ report }: Paid) => report.cost_breakdown.filter(({ metric }) => metric === 'carrier_seconds')

/** Resolves once each leg has its last debit. */
async function settled(): Promise<void> {
  await phones.clock.until('the settlement of all legs', async () => {
    const open = await sql`select from call_legs where answered_at is not null and not is_settled`
    return open.length === 0
  })
}

t.test("the report of a call lists the caller's leg, whose cost was debited from the credit", async (t) => {
  const before = await credit()
  const id = await dial('+15005550006')
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  t.equal((await call(phones, 'POST', `/v1/calls/${id}/end`)).status, 200)
  await callWhen(phones, id, hasEnded)
  await settled()
  const ended = (await callWhen(phones, id, hasEnded)) as Paid
  const [line, ...more] = carrierLines(ended)
  t.match(line, {
    ...{ provider: 'simulator', model: 'outbound', stage: 'carrier', leg: 'caller', keySource: 'MANAGED' },
    priceSource: 'carrier.prices',
  })
  t.same(more, [])
  t.ok((line?.quantity ?? 0) > 0)
  // A second costs a thousandth of a dollar, and the embedded engines cost nothing.
  t.equal(line?.costMicroUsd, String((line?.quantity ?? 0) * 1_000))
  t.equal(ended.report.cost_micro_usd, line?.costMicroUsd)
  t.equal(before - (await credit()), Number(line?.costMicroUsd))
})

t.test('a call ends when the credit is exhausted', async (t) => {
  const id = await dial('+15005550006')
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  await sql`update organizations set credit_micro_usd = 0`
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'credit_exhausted' })
})

t.test('a call whose caller is on hold ends when the credit is exhausted', async (t) => {
  await sql`update organizations set credit_micro_usd = 10000000`
  const id = await dial('+15005550006')
  await callWhen(phones, id, ({ status }) => status === 'in_progress')
  const asked = await call(phones, 'POST', `/v1/calls/${id}/transfers/warm`, { to: '+15005550002' })
  t.equal(asked.status, 201, asked.text)
  await callWhen(phones, id, ({ status }) => status === 'transferring')
  await sql`update organizations set credit_micro_usd = 0`
  t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'credit_exhausted' })
})
