/** Stores credit movements as the contract's examples show them, and compares the responses with the examples. */
import type { Test } from 'tap'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { TestServer } from '../server.ts'
import type { Examples } from './run.ts'

export async function compareCredits(t: Test, examples: Examples, parley: TestServer, administration: Administration) {
  const acme = await administration.organization('with credit', { creditMicroUsd: 0 })
  const sql = openDatabase(parley)
  const movement = (id: string, kind: string, microUsd: number, minute: number, more: object = {}) => ({
    ...{ organization_id: acme.id, id, kind, micro_usd: microUsd, phone_number_id: null, day: null },
    ...{ created_at: new Date(minute * 60_000), updated_at: new Date(minute * 60_000) },
    ...more,
  })
  const rows = [
    movement('credit_2Hj7sNp5WbVx9qKtMgRc4z', 'operator', 25_000_000, 1),
    movement('credit_5Tz8wQm1RcYk4nXsLdVp2b', 'phone_number', -1_000_000, 2, {
      phone_number_id: 'pn_6Vb2kXw9TcQm4nRzLsYd8f',
    }),
    movement('credit_requests_2026-11-21', 'requests', -12_400, 3, { day: '2026-11-21' }),
  ]
  for (const row of rows) await sql`insert into credit_movements ${sql(row)}`
  await sql`update organizations set credit_micro_usd = 23987600 where id = ${acme.id}`
  const budget = { microUsd: 5_000_000, period: 'month' }
  const [key] = await sql<{ id: string }[]>`
    update api_keys set name = 'shop', policy = policy || ${sql.json({ budget })} where organization_id = ${acme.id} returning id`
  const ofKey = { organization_id: acme.id, key_id: key?.id ?? '', period: new Date().toISOString().slice(0, 7) }
  const spent = { spent_micro_usd: 4_210_000, reserved_micro_usd: 0, updated_at: new Date() }
  await sql`insert into key_budgets ${sql({ ...ofKey, ...spent })}`
  await sql`insert into key_budget_events ${sql({ ...ofKey, event: 'warned', occurred_at: new Date() })}`
  await sql.end()
  const shown = await examples.send(acme, { operation: 'getCredits', parameters: ['limit'] })
  examples.compare(t, shown, { example: 'getCredits 200: spent' })
  const balance = await examples.send(acme, { operation: 'getCreditBalance' })
  examples.compare(t, balance, { example: 'getCreditBalance 200: spent' })
  const ledger = await examples.send(acme, { operation: 'getCreditLedger', parameters: ['limit'] })
  examples.compare(t, ledger, { example: 'getCreditLedger 200: spent' })
}
