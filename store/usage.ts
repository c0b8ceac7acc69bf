/**
 * Usage is summed from the rows themselves when it is asked for: they are found by organization and time, so that an
 * answer costs as much as there are rows in its time, and a request pays for no second table.
 */
import type { Tenant } from '../domain/access/organization.ts'
import { type Usage, type UsageGroup, type UsageQuery, type UsageRow, usageRowsMax } from '../domain/billing/usage.ts'
import type { Tx } from './connect.ts'
import { isOfWorld } from './request-routes.ts'
import type { Worlds } from './tenant.ts'

/** A row has a line for each of its units. */
const linesMax = usageRowsMax * 8

type Line = Partial<Record<UsageGroup, string | null>> & {
  /** Null: the line is about uses without a quantity. */
  unit: string | null
  amount: number
  requests: number
  legs: number
  failed: number
  unpriced: number
  costMicroUsd: number | null
}

/** The values of a group: of a request `r` with its call `c`, and of a leg `l` with its call `c`. */
const groups: Record<UsageGroup, { request: string; leg: string }> = {
  day: { request: dayOf('r.started_at'), leg: dayOf('l.answered_at') },
  key: { request: 'r.key_id', leg: 'c.key_id' },
  agent: { request: 'c.agent_id', leg: 'c.agent_id' },
  provider: { request: 'r.provider', leg: 'l.line' },
  model: { request: 'r.model', leg: 'l.direction' },
  stage: { request: 'r.stage', leg: "'carrier'" },
}

function dayOf(time: string): string {
  return `(${time} at time zone 'UTC')::date`
}

export function createUsage(worlds: Worlds): Usage {
  return {
    read: (tenant, query) =>
      worlds.asTenant(tenant, async (tx) => {
        // The planner takes the groups for many and sorts every row for them, which takes longer than a table of the sums.
        await tx`select set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`
        const lines = await readLines(tx, tenant, query)
        const rows = lines.length > linesMax ? null : rowsOf(lines, [...query.groups])
        return rows === null || rows.length > usageRowsMax ? 'too_many_rows' : rows
      }),
  }
}

/** The first line of a use counts it, and all of its lines have its quantities. */
function readLines(tx: Tx, tenant: Tenant, query: UsageQuery): Promise<Line[]> {
  const names = [...query.groups]
  const shown = names.map((name) => (name === 'day' ? 'use.day::text as day, ' : `use.${name}, `)).join('')
  // The day of the use, and not its text.
  const ofUse = names.map((name) => `use.${name}, `).join('')
  return tx<Line[]>`
    select ${tx.unsafe(shown)}q.item->>'unit' as unit,
      coalesce(sum((q.item->>'amount')::double precision), 0) as amount,
      count(*) filter (where not is_leg and coalesce(q.at, 1) = 1)::integer as requests,
      count(*) filter (where is_leg and coalesce(q.at, 1) = 1)::integer as legs,
      count(*) filter (where has_failed and coalesce(q.at, 1) = 1)::integer as failed,
      count(*) filter (where micro_usd is null and coalesce(q.at, 1) = 1)::integer as unpriced,
      (sum(micro_usd) filter (where coalesce(q.at, 1) = 1))::bigint as "costMicroUsd"
    from (${requestsOf(tx, tenant, query)} union all ${legsOf(tx, tenant, query)}) as use
      left join lateral jsonb_array_elements(quantities) with ordinality as q (item, at) on true
    group by ${tx.unsafe(ofUse)}unit
    limit ${linesMax + 1}`
}

const valuesOf = (query: UsageQuery, of: 'request' | 'leg') =>
  [...query.groups].map((name) => `${groups[name][of]} as ${name}, `).join('')

function requestsOf(tx: Tx, { organizationId, test }: Tenant, query: UsageQuery) {
  const call = tx`left join calls c on c.organization_id = ${organizationId} and c.test = ${test} and c.id = r.call_id::uuid`
  return tx`
    select ${tx.unsafe(valuesOf(query, 'request'))}false as is_leg, r.outcome <> 'succeeded' as has_failed, r.quantities,
      r.cost_micro_usd as micro_usd
    from requests r ${query.groups.has('agent') ? call : tx``}
    where r.organization_id = ${organizationId} and ${isOfWorld(tx, test)}
      and r.started_at >= ${new Date(query.fromMs)} and r.started_at < ${new Date(query.toMs)}`
}

/** Seconds and costs as the report of a call counts them (domain/phone/leg-costs.ts). */
function legsOf(tx: Tx, { organizationId, test }: Tenant, query: UsageQuery) {
  return tx`
    select ${tx.unsafe(valuesOf(query, 'leg'))}true as is_leg, false as has_failed,
      jsonb_build_array(jsonb_build_object('unit', 'carrier_seconds', 'amount', used.seconds)) as quantities,
      case when l.test then 0 else ceil(l.micro_usd_per_minute * used.seconds / 60) end::bigint as micro_usd
    from call_legs l
      join calls c on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
      cross join lateral (
        select coalesce(l.ended_at, case when l.bridged_at is null then c.ended_at end) as ended_at
      ) as leg_end
      cross join lateral (
        select greatest(0, ceil(extract(epoch from leg_end.ended_at - l.answered_at))) as seconds
      ) as used
    where l.organization_id = ${organizationId} and l.test = ${test} and leg_end.ended_at is not null
      and l.answered_at >= ${new Date(query.fromMs)} and l.answered_at < ${new Date(query.toMs)}`
}

function rowsOf(lines: readonly Line[], names: readonly UsageGroup[]): UsageRow[] {
  const rows = new Map<string, UsageRow>()
  for (const { unit, amount, requests, legs, failed, unpriced, costMicroUsd, ...values } of lines) {
    const key = JSON.stringify(names.map((name) => values[name]))
    const known = rows.get(key) ?? { ...nothing, ...(values as Partial<UsageRow>) }
    const isKnown = costMicroUsd !== null || known.costMicroUsd !== null
    rows.set(key, {
      ...known,
      requests: known.requests + requests,
      legs: known.legs + legs,
      failed: known.failed + failed,
      unpriced: known.unpriced + unpriced,
      costMicroUsd: isKnown ? (known.costMicroUsd ?? 0) + (costMicroUsd ?? 0) : null,
      quantities: unit === null ? known.quantities : { ...known.quantities, [unit]: amount },
    })
  }
  const placeOf = (row: UsageRow) => names.map((name) => row[name] ?? '').join('\n')
  const placed = [...rows.values()].map((row) => ({ row, place: placeOf(row) }))
  return placed.sort((one, other) => (one.place < other.place ? -1 : 1)).map(({ row }) => row)
}

const nothing = { requests: 0, legs: 0, failed: 0, unpriced: 0, costMicroUsd: null, quantities: {} }
