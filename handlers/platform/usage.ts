import {
  totalOf,
  type UsageFilter,
  type UsageGroup,
  type UsageQuery,
  type UsageRefusal,
  type UsageRow,
  type Usage as UsageStore,
  type UsageSum,
  usageGroups,
  usageRowsMax,
} from '../../domain/billing/usage.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type Caller, type Tenant, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { UsageTotal, UsageRow as WireRow } from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { moneyOf } from './money.ts'
import { type TimeZones, timeZoneOf, unknownZone } from './time-zone.ts'
import { leastMs, millisecondsOf, timeOf } from './times.ts'
import { type SummaryDeps, summaryOf } from './usage-summary.ts'

const dayMs = 86_400_000
/** The default time range. */
const usualMs = 30 * dayMs
const rangeMsMax = 92 * dayMs
/** The longest time range for usage by hour. */
const hoursMsMax = 7 * dayMs

type UsageRequest = { from?: string; to?: string; groupBy: string; timeZone?: string } & Filters
type Filters = { keyId?: string; agentId?: string; provider?: string; model?: string; stage?: string }

export type ReadUsageDeps = { usage: UsageStore; organizations: TimeZones; clock: Clock }
export type UsageDeps = SummaryDeps & ReadUsageDeps

export function getUsage(deps: UsageDeps): PlatformHandlers<Caller>['getUsage'] {
  return async ({ query }, { caller }) => {
    const tenant = tenantOf(caller)
    const usageQuery = await queryOf(deps, tenant, query)
    const sums = requireRows(await deps.usage.summarize(tenant, usageQuery))
    return { status: 200, body: { ...wireUsage(usageQuery, sums.rows), ...(await summaryOf(deps, tenant, sums)) } }
  }
}

/**
 * Reads the usage, as the command line also shows it. Throws a Refusal if the time range is too long or the response
 * would have too many groups.
 */
export async function readUsage(deps: ReadUsageDeps, tenant: Tenant, request: UsageRequest) {
  const query = await queryOf(deps, tenant, request)
  return wireUsage(query, requireRows(await deps.usage.read(tenant, query)))
}

async function queryOf(deps: ReadUsageDeps, tenant: Tenant, request: UsageRequest): Promise<UsageQuery> {
  const groups = new Set(usageGroups.filter((group) => request.groupBy.split(',').includes(group)))
  const range = timeRangeOf(deps.clock, request)
  if (groups.has('hour') && range.toMs - range.fromMs > hoursMsMax)
    throw refusal('groupBy', 'groupBy has hour, and so from must be at most 7 days before to')
  const zone = { param: 'timeZone', requested: request.timeZone }
  const timeZone = await timeZoneOf(deps.organizations, tenant.organizationId, zone)
  return { ...range, groups, timeZone, filter: filterOf(request) }
}

function filterOf({ keyId, agentId, provider, model, stage }: Filters): UsageFilter {
  return {
    ...(keyId !== undefined && { key: keyId }),
    ...(agentId !== undefined && { agent: agentId }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(stage !== undefined && { stage }),
  }
}

function timeRangeOf(clock: Clock, { from, to }: UsageRequest): Pick<UsageQuery, 'fromMs' | 'toMs'> {
  const toMs = to === undefined ? clock.nowMs() : millisecondsOf('to', to)
  const fromMs = from === undefined ? Math.max(leastMs, toMs - usualMs) : millisecondsOf('from', from)
  if (!(fromMs < toMs && toMs - fromMs <= rangeMsMax))
    throw refusal(from === undefined ? 'to' : 'from', 'from must be before to, and at most 92 days before it')
  return { fromMs, toMs }
}

function requireRows<Sums extends object>(sums: Sums | UsageRefusal): Sums {
  if (sums === 'zone_unknown') throw unknownZone('timeZone')
  if (sums !== 'too_many_rows') return sums
  throw refusal(
    'groupBy',
    `groupBy divides this time into more than ${usageRowsMax} rows; ask for less time, or fewer groups`,
  )
}

function wireUsage({ fromMs, toMs, groups, timeZone }: UsageQuery, rows: readonly UsageRow[]) {
  return {
    ...{ from: timeOf(fromMs), to: timeOf(toMs), groupBy: [...groups], timeZone },
    rows: rows.map((row) => ({ ...groupsOf(row, groups), ...wireSum(row) })),
    total: wireSum(totalOf(rows)),
  }
}

const refusal = (param: string, message: string) =>
  new Refusal('invalid_parameter', { param, message, keyword: 'format' })

function groupsOf(row: UsageRow, groups: ReadonlySet<UsageGroup>): Partial<WireRow> {
  return {
    ...(row.hour != null && { hour: row.hour }),
    ...(row.day != null && { day: row.day }),
    ...(groups.has('key') && { keyId: row.key ?? null }),
    ...(groups.has('agent') && { agentId: row.agent ?? null }),
    ...(groups.has('provider') && { provider: row.provider ?? null }),
    ...(groups.has('model') && { model: row.model ?? null }),
    ...(row.stage !== undefined && { stage: row.stage }),
  }
}

function wireSum({ requests, legs, failed, unpriced, costMicroUsd, quantities }: UsageSum): UsageTotal {
  // Sorts the units, because Postgres returns them in any order. With parallel workers the order can differ between
  // queries.
  const sorted = Object.fromEntries(Object.entries(quantities).sort(([one], [other]) => (one < other ? -1 : 1)))
  return { requests, legs, failed, unpriced, costMicroUsd: moneyOf(costMicroUsd), quantities: sorted }
}
