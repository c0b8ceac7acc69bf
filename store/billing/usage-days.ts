/**
 * Daily sums. A deleted request or leg is added to its day's sum. A day's usage is its remaining rows plus these sums,
 * so the usage does not change when rows are deleted.
 */

/**
 * Returns SQL: true if a request failed. A request does not count as failed if the client cancelled it, by an
 * interruption or by leaving.
 */
export const hasFailed = (outcome: string) => `${outcome} not in ('succeeded', 'cancelled')`

/** The columns that identify a daily sum. */
const dimensions = ['organization_id', 'test', 'day', 'key_id', 'agent_id', 'provider', 'model', 'stage']

/**
 * Returns SQL for the lines of `uses` (requests and legs): one line for each unit. Each line has a quantity. Only the
 * first line has the count and the cost, so they count once.
 */
export function linesOf(columns: readonly string[], uses: string): string {
  const isFirst = 'coalesce(q.at, 1) = 1'
  return `
    select ${columns.map((name) => `use.${name}, `).join('')}q.item->>'unit' as unit, (q.item->>'amount')::numeric as amount,
      (not is_leg and ${isFirst})::integer as requests, (is_leg and ${isFirst})::integer as legs,
      (has_failed and ${isFirst})::integer as failed, (micro_usd is null and ${isFirst})::integer as unpriced,
      case when ${isFirst} then micro_usd end as cost_micro_usd
    from ${uses} as use left join lateral jsonb_array_elements(quantities) with ordinality as q (item, at) on true`
}

/** Returns SQL to add the rows in `uses` to their days' sums. The same statement must delete these rows. */
export function addToUsageDays(uses: string): string {
  const keys = dimensions.join(', ')
  return `
    insert into usage_days as u (${keys}, unit, amount, requests, legs, failed, unpriced, cost_micro_usd)
    select ${keys}, unit, sum(amount), sum(requests), sum(legs), sum(failed), sum(unpriced), sum(cost_micro_usd)
    from (${linesOf(dimensions, uses)}) as line
    group by ${keys}, unit
    on conflict (${keys}, unit) do update set
      amount = coalesce(u.amount + excluded.amount, u.amount, excluded.amount), requests = u.requests + excluded.requests,
      legs = u.legs + excluded.legs, failed = u.failed + excluded.failed, unpriced = u.unpriced + excluded.unpriced,
      cost_micro_usd = coalesce(u.cost_micro_usd + excluded.cost_micro_usd, u.cost_micro_usd, excluded.cost_micro_usd)`
}

/** Returns SQL for the day of a time in UTC. */
export function dayOf(time: string): string {
  return `(${time} at time zone 'UTC')::date`
}

/**
 * SQL to count the leg `l` in the call `c` as a use, joined with its time `used`. Seconds and costs agree with the
 * call's report (domain/records/leg-costs.ts).
 */
export const legUse = {
  ended: `
    cross join lateral (
      select coalesce(l.ended_at, case when l.bridged_at is null then c.ended_at end) as ended_at
    ) as leg_end
    cross join lateral (
      select greatest(0, ceil(extract(epoch from leg_end.ended_at - l.answered_at))) as seconds
    ) as used`,
  columns: `true as is_leg, false as has_failed,
    jsonb_build_array(jsonb_build_object('unit', 'carrier_seconds', 'amount', used.seconds)) as quantities,
    case when l.test then 0 else ceil(l.micro_usd_per_minute * used.seconds / 60) end::bigint as micro_usd`,
}
