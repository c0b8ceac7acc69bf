import { type Caller, type Tenant, tenantOf } from '../../domain/access/organization.ts'
import {
  totalOf,
  type UsageGroup,
  type UsageRow,
  type Usage as UsageStore,
  type UsageSum,
  usageGroups,
  usageRowsMax,
} from '../../domain/billing/usage.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { UsageTotal, UsageRow as WireRow, Usage as WireUsage } from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { moneyOf } from './money.ts'
import { leastMs, millisecondsOf, timeOf } from './times.ts'
import { readSummary, type SummaryDeps, type TimeRange } from './usage-summary.ts'

const dayMs = 86_400_000
/** The time of an answer that names none. */
const usualMs = 30 * dayMs
const rangeMsMax = 92 * dayMs

/** The part of an answer that the command line shows too. */
export type GroupedUsage = Pick<WireUsage, 'from' | 'to' | 'groupBy' | 'rows' | 'total'>

type Asked = { from?: string; to?: string; groupBy: string }

export type UsageDeps = SummaryDeps & { clock: Clock }

export function getUsage(deps: UsageDeps): PlatformHandlers<Caller>['getUsage'] {
  return async ({ query }, { caller }) => {
    const tenant = tenantOf(caller)
    const time = timeRangeOf(deps.clock, query)
    const grouped = await readRange(deps.usage, tenant, time, query.groupBy)
    return { status: 200, body: { ...grouped, ...(await readSummary(deps, tenant, time)) } }
  }
}

/** Throws a Refusal for a time or groups that are too much. */
export function readUsage(usage: UsageStore, clock: Clock, tenant: Tenant, asked: Asked): Promise<GroupedUsage> {
  return readRange(usage, tenant, timeRangeOf(clock, asked), asked.groupBy)
}

function timeRangeOf(clock: Clock, { from, to }: Asked): TimeRange {
  const toMs = to === undefined ? clock.nowMs() : millisecondsOf('to', to)
  const fromMs = from === undefined ? Math.max(leastMs, toMs - usualMs) : millisecondsOf('from', from)
  if (!(fromMs < toMs && toMs - fromMs <= rangeMsMax))
    throw refusal(from === undefined ? 'to' : 'from', 'from must be before to, and at most 92 days before it')
  return { fromMs, toMs }
}

async function readRange(usage: UsageStore, tenant: Tenant, { fromMs, toMs }: TimeRange, groupBy: string) {
  const groups = new Set(usageGroups.filter((group) => groupBy.split(',').includes(group)))
  const rows = await usage.read(tenant, { fromMs, toMs, groups })
  if (rows === 'too_many_rows')
    throw refusal(
      'groupBy',
      `groupBy divides this time into more than ${usageRowsMax} rows; ask for less time, or fewer groups`,
    )
  return {
    ...{ from: timeOf(fromMs), to: timeOf(toMs), groupBy: [...groups] },
    rows: rows.map((row) => ({ ...groupsOf(row, groups), ...wireSum(row) })),
    total: wireSum(totalOf(rows)),
  }
}

const refusal = (param: string, message: string) =>
  new Refusal('invalid_parameter', { param, message, keyword: 'format' })

function groupsOf(row: UsageRow, groups: ReadonlySet<UsageGroup>): Partial<WireRow> {
  return {
    ...(row.day != null && { day: row.day }),
    ...(groups.has('key') && { keyId: row.key ?? null }),
    ...(groups.has('agent') && { agentId: row.agent ?? null }),
    ...(groups.has('provider') && { provider: row.provider ?? null }),
    ...(groups.has('model') && { model: row.model ?? null }),
    ...(row.stage !== undefined && { stage: row.stage }),
  }
}

function wireSum({ requests, legs, failed, unpriced, costMicroUsd, quantities }: UsageSum): UsageTotal {
  // Postgres gives the units in any order, and in another one each time when several processes of it work on them.
  const sorted = Object.fromEntries(Object.entries(quantities).sort(([one], [other]) => (one < other ? -1 : 1)))
  return { requests, legs, failed, unpriced, costMicroUsd: moneyOf(costMicroUsd), quantities: sorted }
}
