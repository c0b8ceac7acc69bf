/**
 * Before a request reaches a provider, its greatest possible cost is taken from the balance, and from its key's budget
 * if the key has one. The amount is recorded as a reservation. A crash loses nothing, because a dead process's
 * reservations are given back. Settling (ledger.ts) removes the reservation and takes the true cost.
 */
import { budgetOf, type CreditRefusal } from '../../domain/billing/budget.ts'
import type { Credit } from '../../domain/billing/ledger.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { type BatchLimits, createBatcher } from '../postgres/batch.ts'
import type { Sql } from '../postgres/connect.ts'
import { inTime } from '../postgres/outage.ts'
import { undoneWrites } from '../postgres/undone.ts'
import { countForKeys } from './key-budgets.ts'

const batches: BatchLimits = { rowsMax: 128, gatherMs: 1, idleGatherMs: 0, queueMax: 10_000 }
const sweepRowsMax = 1_000

export type StoredCredit = Credit & {
  /** Releases reservations by dead instances, that is, instances without a heartbeat. */
  sweep(): Promise<void>
  drain(): Promise<void>
  /** Counts unfinished requests for a reservation. */
  waiting(): number
}

type Ask = {
  organizationId: string
  requestId: string
  microUsd: number
  /** Null if the key has no budget. */
  keyId: string | null
  period: string | null
  budgetMicroUsd: number | null
}
type Cancellation = Pick<Ask, 'organizationId' | 'requestId'>

export function createCredit(sql: Sql, clock: Clock, instanceId: string): StoredCredit {
  const now = () => new Date(clock.nowMs())
  const cancel = (asks: readonly Cancellation[]) => cancelAll(sql, asks, now())
  const undone = undoneWrites(sql, clock, ({ requestId }: Cancellation) => requestId, cancel)
  const reserve = (asks: readonly Ask[]) => undone.write(asks, () => reserveAll(sql, asks, instanceId, now()))
  const reservations = createBatcher(reserve, batches)
  const cancellations = createBatcher((asks: readonly Cancellation[]) => undone.undo(asks), batches)
  return {
    refusal: (caller) => refusalOf(sql, caller, clock.nowMs()),
    reserve(organizationId, requestId, microUsd, budget) {
      if (microUsd === 0) return Promise.resolve(null)
      const { keyId = null, period = null, microUsd: budgetMicroUsd = null } = budget ?? {}
      const ask = { organizationId, requestId, microUsd: Math.ceil(microUsd), keyId, period, budgetMicroUsd }
      return reservations.add(ask)
    },
    cancel(organizationId, requestId, microUsd) {
      if (microUsd === 0) return Promise.resolve()
      return cancellations.add({ organizationId, requestId })
    },
    async sweep() {
      await undone.run()
      await giveBackOfTheDead(sql, now())
    },
    waiting: () => reservations.waiting(),
    async drain() {
      await Promise.all([reservations.drain(), cancellations.drain()])
    },
  }
}

async function refusalOf(sql: Sql, caller: Caller, nowMs: number): Promise<CreditRefusal | null> {
  const { id } = caller.organization
  const { keyId, period, microUsd } = budgetOf(caller, nowMs) ?? { keyId: null, period: null, microUsd: 1 }
  const [row] = await inTime(
    sql,
    async () => sql<{ isCovered: boolean }[]>`
    select coalesce((select spent_micro_usd + reserved_micro_usd from key_budgets
      where organization_id = ${id} and key_id = ${keyId} and period = ${period}), 0) < ${microUsd} as "isCovered"
    from organizations where id = ${id} and credit_micro_usd > 0`,
  )
  if (row === undefined) return 'credit'
  return row.isCovered ? null : 'budget'
}

/**
 * Grants an organization's reservations one after the other while balance and budget cover them. If a large reservation
 * is refused, a smaller reservation after it can still be granted.
 */
async function reserveAll(
  sql: Sql,
  asks: readonly Ask[],
  instanceId: string,
  now: Date,
): Promise<(CreditRefusal | null)[]> {
  // If no reservation's key has a budget, the cheaper statement is enough.
  if (asks.some(({ keyId }) => keyId !== null)) return reserveWithinBudgets(sql, asks, instanceId, now)
  const rows = await sql<{ index: number }[]>`
    select reserve_credit(${sql.json(asks.map(({ organizationId, requestId, microUsd }, index) => ({ index, organizationId, requestId, microUsd })))}::json,
      ${instanceId}) as index`
  const granted = new Set(rows.map(({ index }) => index))
  return asks.map((_, index) => (granted.has(index) ? null : 'credit'))
}

async function reserveWithinBudgets(
  sql: Sql,
  asks: readonly Ask[],
  instanceId: string,
  now: Date,
): Promise<(CreditRefusal | null)[]> {
  const rows = await sql<{ index: number; refusal: CreditRefusal | null }[]>`
    select ask_index as index, ask_refusal as refusal
    from reserve_within_budgets(${sql.json(asks.map((ask, index) => ({ ...ask, index })))}::json, ${instanceId}, ${now})`
  const refusals = new Map(rows.map(({ index, refusal }) => [index, refusal]))
  // The statement returns no row for an unknown organization. Its reservations are refused for lack of credit.
  return asks.map((_, index) => (refusals.has(index) ? (refusals.get(index) ?? null) : 'credit'))
}

async function cancelAll(sql: Sql, asks: readonly Cancellation[], now: Date): Promise<undefined[]> {
  await sql`
    with given_back as (
      delete from reservations r
      using json_to_recordset(${sql.json([...asks])}::json) as a ("organizationId" text, "requestId" text)
      where r.organization_id = a."organizationId" and r.request_id = a."requestId"
      returning r.organization_id, r.micro_usd, r.key_id, r.period
    ), ${releasedOf(sql, now)}
    update organizations o set credit_micro_usd = o.credit_micro_usd + g.micro_usd
    from (select organization_id, sum(micro_usd)::bigint as micro_usd from given_back
          group by organization_id order by organization_id) g
    where o.id = g.organization_id`
  return asks.map(() => undefined)
}

async function giveBackOfTheDead(sql: Sql, now: Date): Promise<void> {
  await sql`
    with dead as materialized (
      select organization_id, request_id from reservations r
      where not exists (select from instances i where i.id = r.instance_id and i.alive_until > ${now})
      limit ${sweepRowsMax} for update of r skip locked
    ), given_back as (
      delete from reservations r using dead d
      where r.organization_id = d.organization_id and r.request_id = d.request_id
      returning r.organization_id, r.micro_usd, r.key_id, r.period
    ), ${releasedOf(sql, now)}
    update organizations o set credit_micro_usd = o.credit_micro_usd + g.micro_usd
    from (select organization_id, sum(micro_usd)::bigint as micro_usd from given_back
          group by organization_id order by organization_id) g
    where o.id = g.organization_id`
}

/** Returns SQL to add the reservations in `given_back` back to their budgets. */
function releasedOf(sql: Sql, now: Date) {
  return sql`
    released as (
      select organization_id, key_id, period, 0 as spent, sum(micro_usd)::bigint as released, null::bigint as budget
      from given_back where key_id is not null
      group by organization_id, key_id, period order by organization_id, key_id, period
    ), ${countForKeys(sql, 'released', now)}`
}
