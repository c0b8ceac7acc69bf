/**
 * Counts spending for keys with a budget. Each change to a budget's sums locks the organization first (see
 * reserve_within_budgets in the migration), so two transactions never wait for each other.
 */
import type { BudgetEvent, BudgetEvents, KeyBudgets, KeySpending } from '../../domain/billing/key-spending.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'

const keysMax = 1_000
const eventsMax = 1_000
/** Budget rows are kept for this long. A daily budget has the most rows, one for each day. */
const retentionDays = 400
const deletedMax = 10_000

/**
 * Returns SQL for two common table expressions: `counted` adds to the budgets, and `noticed` marks a budget as warned
 * or exhausted. `source` is the name for a table expression with rows `organization_id, key_id, period, spent,
 * released, budget`: one row for each key and period, in this order. `budget` may be null if nothing was spent.
 */
export function countForKeys(sql: Sql | Tx, source: string, now: Date) {
  return sql`
    counted as (
      insert into key_budgets as b (organization_id, key_id, period, spent_micro_usd, reserved_micro_usd, updated_at)
      select organization_id, key_id, period, spent, -released, ${now} from ${sql(source)}
      on conflict (organization_id, key_id, period) do update set updated_at = excluded.updated_at,
        spent_micro_usd = b.spent_micro_usd + excluded.spent_micro_usd,
        reserved_micro_usd = b.reserved_micro_usd + excluded.reserved_micro_usd
      returning organization_id, key_id, period, spent_micro_usd
    ), noticed as (
      insert into key_budget_events (organization_id, key_id, period, event, occurred_at)
      select c.organization_id, c.key_id, c.period, e.event, ${now}
      from counted c join ${sql(source)} s using (organization_id, key_id, period),
        (values ('warned', 80), ('exhausted', 100)) as e (event, percent)
      where s.spent > 0 and c.spent_micro_usd * 100.0 >= s.budget * e.percent
      on conflict do nothing
    )`
}

type Row = Omit<KeySpending, 'budget' | 'warnedAtMs' | 'exhaustedAtMs'> & {
  budgetMicroUsd: number
  budgetPeriod: KeySpending['budget']['period']
  warnedAt: Date | null
  exhaustedAt: Date | null
}

export function createKeyBudgets(tenancy: Tenancy, clock: Clock): KeyBudgets {
  const now = () => new Date(clock.nowMs())
  return {
    read: (organizationId) =>
      tenancy.asOrganization(organizationId, async (tx) =>
        (await readSpending(tx, organizationId, now())).map(spendingOf),
      ),
    set: (organizationId, keyId, budget) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const [key] = await tx<{ lookup: string; previousLookup: string | null }[]>`
          update api_keys set policy = ${budget === null ? tx`policy - 'budget'` : tx`policy || ${tx.json({ budget })}`}
          where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null
          returning lookup, previous_lookup as "previousLookup"`
        if (key === undefined) return false
        if (budget !== null) await beginBudget(tx, organizationId, keyId, budget.period, now())
        for (const lookup of [key.lookup, key.previousLookup])
          if (lookup !== null) await notifyKeyChange(tx, { lookup })
        return true
      }),
  }
}

/**
 * Starts a new budget's period. A daily or monthly budget includes the key's costs since the period's start. A total
 * budget counts from now on. The old budget's events are deleted, so the operator receives new warnings.
 */
export async function beginBudget(
  tx: Tx,
  organizationId: string,
  keyId: string,
  kind: string,
  now: Date,
): Promise<void> {
  await tx`
    insert into key_budgets (organization_id, key_id, period, spent_micro_usd, reserved_micro_usd, updated_at)
    select ${organizationId}, ${keyId}, p.period, case when ${kind} = 'total' then 0 else
      (select coalesce(sum(cost_micro_usd), 0)::bigint from requests r
        where r.organization_id = ${organizationId} and r.key_id = ${keyId} and r.started_at >= p.begun_at)
      + (select coalesce(sum(l.charged_micro_usd), 0)::bigint from call_legs l
          join calls c on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
          where l.organization_id = ${organizationId} and c.key_id = ${keyId} and l.answered_at >= p.begun_at) end, 0, ${now}
    from (select budget_period(${kind}, ${now}) as period,
      date_trunc(case ${kind} when 'day' then 'day' else 'month' end, ${now}::timestamptz, 'UTC') as begun_at) p
    on conflict do nothing`
  await tx`
    delete from key_budget_events where organization_id = ${organizationId} and key_id = ${keyId}
      and period = budget_period(${kind}, ${now})`
}

async function readSpending(tx: Tx, organizationId: string, now: Date): Promise<readonly Row[]> {
  return tx<Row[]>`
    select k.id as "keyId", k.name, p.period, (k.policy #>> '{budget,microUsd}')::bigint as "budgetMicroUsd",
      k.policy #>> '{budget,period}' as "budgetPeriod",
      coalesce(b.spent_micro_usd, 0) as "spentMicroUsd", coalesce(b.reserved_micro_usd, 0) as "reservedMicroUsd",
      warned.occurred_at as "warnedAt", exhausted.occurred_at as "exhaustedAt"
    from api_keys k
    cross join lateral (select budget_period(k.policy #>> '{budget,period}', ${now}) as period) p
    left join key_budgets b on b.organization_id = k.organization_id and b.key_id = k.id and b.period = p.period
    left join key_budget_events warned on warned.organization_id = k.organization_id and warned.key_id = k.id
      and warned.period = p.period and warned.event = 'warned'
    left join key_budget_events exhausted on exhausted.organization_id = k.organization_id and exhausted.key_id = k.id
      and exhausted.period = p.period and exhausted.event = 'exhausted'
    where k.organization_id = ${organizationId} and k.policy ? 'budget' and k.revoked_at is null
    order by k.created_at, k.id limit ${keysMax}`
}

function spendingOf({ budgetMicroUsd, budgetPeriod, warnedAt, exhaustedAt, ...row }: Row): KeySpending {
  return {
    ...row,
    budget: { microUsd: budgetMicroUsd, period: budgetPeriod },
    warnedAtMs: warnedAt?.getTime() ?? null,
    exhaustedAtMs: exhaustedAt?.getTime() ?? null,
  }
}

/** Reports each event once: every process looks for new events, and the first to mark an event reports it. */
export function createBudgetEvents(sql: Sql, clock: Clock, report: (event: BudgetEvent) => void): BudgetEvents {
  const reported = { warned: 0, exhausted: 0 }
  return {
    reported: () => reported,
    async report() {
      const now = new Date(clock.nowMs())
      const events = await sql<BudgetEvent[]>`
        with unreported as materialized (
          select organization_id, key_id, period, event from key_budget_events where reported_at is null
          order by occurred_at limit ${eventsMax} for update skip locked
        )
        update key_budget_events e set reported_at = ${now} from unreported u
        where e.organization_id = u.organization_id and e.key_id = u.key_id and e.period = u.period and e.event = u.event
        returning e.organization_id as "organizationId", e.key_id as "keyId", e.period, e.event`
      for (const event of events) {
        reported[event.event] += 1
        report(event)
      }
    },
    async reap() {
      const before = new Date(clock.nowMs() - retentionDays * 86_400_000)
      await sql`
        with old as materialized (
          select organization_id, key_id, period from key_budgets
          where updated_at < ${before} and period <> 'total' limit ${deletedMax} for update skip locked
        ), forgotten as (
          delete from key_budget_events e using old o
          where e.organization_id = o.organization_id and e.key_id = o.key_id and e.period = o.period
        )
        delete from key_budgets b using old o
        where b.organization_id = o.organization_id and b.key_id = o.key_id and b.period = o.period`
    },
  }
}
