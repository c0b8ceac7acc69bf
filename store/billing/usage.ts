/**
 * Usage is summed from the rows on demand. The rows are found by organization and time, so a query's cost depends on
 * the number of rows in its time range, and a request writes to no second table. Deleted rows remain as daily sums
 * (usage-days.ts).
 */
import {
  type SessionTotals,
  type Usage,
  type UsageGroup,
  type UsageQuery,
  type UsageRow,
  usageGroups,
  usageRowsMax,
} from '../../domain/billing/usage.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { storable } from '../postgres/row-values.ts'
import type { Snapshots, Worlds } from '../postgres/tenant.ts'
import { unlessZoneUnknown, zoneSetting } from '../postgres/time-zones.ts'
import { isOfWorld } from './request-routes.ts'
import { hasFailed, legUse, linesOf } from './usage-days.ts'

/** The maximum number of lines to read. Each row in the result has a line for each of its units. */
const linesMax = usageRowsMax * 8

type Line = Partial<Record<UsageGroup, string | null>> & {
  /** Null if the line counts uses without a quantity. */
  unit: string | null
  amount: number
  requests: number
  legs: number
  failed: number
  unpriced: number
  costMicroUsd: number | null
}

/**
 * SQL for each group's value: from a request `r` and its call `c`, from a leg `l` and its call `c`, or from a day's
 * sums `d`. A time is converted in the transaction's time zone. A day's sums have no time, only their UTC day.
 */
const groups: Record<UsageGroup, { request: string; leg: string; sums: string }> = {
  hour: {
    request: "date_trunc('hour', r.started_at)",
    leg: "date_trunc('hour', l.answered_at)",
    sums: "d.day::timestamp at time zone 'UTC'",
  },
  day: { request: 'r.started_at::date', leg: 'l.answered_at::date', sums: 'd.day' },
  key: { request: 'r.key_id', leg: 'c.key_id', sums: 'd.key_id' },
  agent: { request: 'coalesce(c.agent_id, r.agent_id)', leg: 'c.agent_id', sums: 'd.agent_id' },
  provider: { request: 'r.provider', leg: 'l.line', sums: 'd.provider' },
  model: { request: 'r.model', leg: 'l.direction', sums: 'd.model' },
  stage: { request: 'r.stage', leg: "'carrier'", sums: 'd.stage' },
}

export function createUsage(worlds: Worlds & Snapshots): Usage {
  return {
    read: (tenant, query) => unlessZoneUnknown(worlds.asTenant(tenant, (tx) => readRows(tx, tenant, query))),
    summarize: (tenant, query) =>
      unlessZoneUnknown(
        worlds.asTenantAtOnce(tenant, async (tx) => {
          const rows = await readRows(tx, tenant, query)
          if (rows === 'too_many_rows') return rows
          const byProvider = await readRows(tx, tenant, { ...query, groups: providerGroups })
          if (byProvider === 'too_many_rows') return byProvider
          return { rows, byProvider, sessions: await readSessions(tx, tenant, query) }
        }),
      ),
  }
}

const providerGroups: ReadonlySet<UsageGroup> = new Set(['provider', 'stage'])

async function readRows(tx: Tx, tenant: Tenant, query: UsageQuery): Promise<UsageRow[] | 'too_many_rows'> {
  // Turns sorting off. The planner expects too many groups and would sort every row, but a hash table is faster.
  await tx`
    select set_config('enable_sort', 'off', true), set_config('jit', 'off', true),
      ${zoneSetting(tx, query.timeZone)}`
  const lines = await readLines(tx, tenant, query)
  const rows = lines.length > linesMax ? null : rowsOf(lines, [...query.groups])
  return rows === null || rows.length > usageRowsMax ? 'too_many_rows' : rows
}

async function readSessions(
  tx: Tx,
  { organizationId, test }: Tenant,
  { fromMs, toMs, filter: { key, agent } }: Pick<UsageQuery, 'fromMs' | 'toMs' | 'filter'>,
): Promise<SessionTotals> {
  const [totals] = await tx<SessionTotals[]>`
    select count(*)::integer as sessions,
      coalesce(sum(extract(epoch from ended_at - started_at)) * 1000, 0)::double precision as "connectedMs"
    from calls
    where organization_id = ${organizationId} and test = ${test}
      and created_at >= ${new Date(fromMs)} and created_at < ${new Date(toMs)}
      ${key === undefined ? tx`` : tx`and key_id = ${storable(key)}`}
      ${agent === undefined ? tx`` : tx`and agent_id = ${storable(agent)}`}`
  return totals ?? { sessions: 0, connectedMs: 0 }
}

function readLines(tx: Tx, tenant: Tenant, query: UsageQuery): Promise<Line[]> {
  const names = [...query.groups]
  const shown = names.map((name) => `${shownAs[name] ?? `line.${name}`} as ${name}, `).join('')
  // `shown` converts times to text for the result, but the rows are grouped by the times themselves.
  const ofUse = names.map((name) => `line.${name}, `).join('')
  return tx<Line[]>`
    with use as (${requestsOf(tx, tenant, query)} union all ${legsOf(tx, tenant, query)})
    select ${tx.unsafe(shown)}unit, coalesce(sum(amount), 0)::double precision as amount,
      sum(requests)::bigint as requests, sum(legs)::bigint as legs, sum(failed)::bigint as failed,
      sum(unpriced)::bigint as unpriced, sum(cost_micro_usd)::bigint as "costMicroUsd"
    from (${tx.unsafe(linesOf(names, 'use'))} union all ${sumsOf(tx, tenant, query)}) as line
    group by ${tx.unsafe(ofUse)}unit
    limit ${linesMax + 1}`
}

const shownAs: Partial<Record<UsageGroup, string>> = {
  hour: `to_char(line.hour at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  day: 'line.day::text',
}

/** Returns SQL for the query's filter. */
function filterOf(tx: Tx, { filter }: UsageQuery, of: 'request' | 'leg' | 'sums') {
  const names = usageGroups.filter((name) => name !== 'hour' && name !== 'day')
  return names.map((name) => {
    const value = filter[name]
    return value === undefined ? tx`` : tx`and ${tx.unsafe(groups[name][of])} = ${storable(value)}`
  })
}

const valuesOf = (query: UsageQuery, of: 'request' | 'leg' | 'sums') =>
  [...query.groups].map((name) => `${groups[name][of]} as ${name}, `).join('')

function requestsOf(tx: Tx, { organizationId, test }: Tenant, query: UsageQuery) {
  const call = tx`left join calls c on c.organization_id = ${organizationId} and c.test = ${test} and c.id = r.call_id::uuid`
  return tx`
    select ${tx.unsafe(valuesOf(query, 'request'))}false as is_leg, ${tx.unsafe(hasFailed('r.outcome'))} as has_failed, r.quantities,
      r.cost_micro_usd as micro_usd
    from requests r ${query.groups.has('agent') || query.filter.agent !== undefined ? call : tx``}
    where r.organization_id = ${organizationId} and ${isOfWorld(tx, test)}
      and r.started_at >= ${new Date(query.fromMs)} and r.started_at < ${new Date(query.toMs)}
      ${filterOf(tx, query, 'request')}`
}

function legsOf(tx: Tx, { organizationId, test }: Tenant, query: UsageQuery) {
  return tx`
    select ${tx.unsafe(valuesOf(query, 'leg'))}${tx.unsafe(legUse.columns)}
    from call_legs l
      join calls c on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
      ${tx.unsafe(legUse.ended)}
    where l.organization_id = ${organizationId} and l.test = ${test} and leg_end.ended_at is not null
      and l.answered_at >= ${new Date(query.fromMs)} and l.answered_at < ${new Date(query.toMs)}
      ${filterOf(tx, query, 'leg')}`
}

/** Returns SQL for the daily sums. If a day begins in the query's time range, its whole sum counts. */
function sumsOf(tx: Tx, { organizationId, test }: Tenant, query: UsageQuery) {
  return tx`
    select ${tx.unsafe(valuesOf(query, 'sums'))}unit, amount, requests, legs, failed, unpriced, cost_micro_usd
    from usage_days d
    where d.organization_id = ${organizationId} and d.test = ${test}
      and d.day >= ${new Date(query.fromMs)}::timestamptz at time zone 'UTC'
      and d.day < ${new Date(query.toMs)}::timestamptz at time zone 'UTC'
      ${filterOf(tx, query, 'sums')}`
}

function rowsOf(lines: readonly Line[], names: readonly UsageGroup[]): UsageRow[] {
  const rows = new Map<string, UsageRow>()
  for (const { unit, amount, requests, legs, failed, unpriced, costMicroUsd, ...values } of lines) {
    const key = JSON.stringify(names.map((name) => values[name]))
    const row = rows.get(key) ?? { ...nothing, ...(values as Partial<UsageRow>) }
    const hasCost = costMicroUsd !== null || row.costMicroUsd !== null
    rows.set(key, {
      ...row,
      requests: row.requests + requests,
      legs: row.legs + legs,
      failed: row.failed + failed,
      unpriced: row.unpriced + unpriced,
      costMicroUsd: hasCost ? (row.costMicroUsd ?? 0) + (costMicroUsd ?? 0) : null,
      quantities: unit === null ? row.quantities : { ...row.quantities, [unit]: amount },
    })
  }
  const placeOf = (row: UsageRow) => names.map((name) => row[name] ?? '').join('\n')
  const placed = [...rows.values()].map((row) => ({ row, place: placeOf(row) }))
  return placed.sort((one, other) => (one.place < other.place ? -1 : 1)).map(({ row }) => row)
}

const nothing = { requests: 0, legs: 0, failed: 0, unpriced: 0, costMicroUsd: null, quantities: {} }
