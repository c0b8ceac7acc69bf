/** The totals of a time as published clients read them: in US dollars, by provider and unit. */
import type { OwnKeys, Tenant } from '../../domain/access/organization.ts'
import type { CreditAccounts } from '../../domain/billing/credit-account.ts'
import { totalOf, type UsageQuery, type UsageRow, type Usage as UsageStore } from '../../domain/billing/usage.ts'
import type { UsageByProvider, Usage as WireUsage } from '../../generated/platform/types.ts'
import { usdOf } from './money.ts'

export type TimeRange = Pick<UsageQuery, 'fromMs' | 'toMs'>
export type UsageSummary = Omit<WireUsage, 'from' | 'to' | 'groupBy' | 'rows' | 'total'>

export type SummaryDeps = {
  usage: UsageStore
  creditAccounts: CreditAccounts
  /** The keys of an organization, by provider. */
  ownKeysOf: (organizationId: string) => Promise<OwnKeys>
}

const groups = new Set(['provider', 'stage'] as const)
const minuteMs = 60_000

export async function readSummary(deps: SummaryDeps, tenant: Tenant, time: TimeRange): Promise<UsageSummary> {
  const { usage, creditAccounts, ownKeysOf } = deps
  const [read, totals, account, ownKeys] = await Promise.all([
    usage.read(tenant, { ...time, groups }),
    usage.sessions(tenant, time),
    creditAccounts.read(tenant.organizationId, 1, null),
    tenant.test ? {} : ownKeysOf(tenant.organizationId),
  ])
  // An organization has few providers.
  const rows = read === 'too_many_rows' ? [] : read
  return {
    totalSessions: totals.sessions,
    totalMinutes: totals.connectedMs / minuteMs,
    totalCost: usdOf(totalOf(rows).costMicroUsd ?? 0),
    breakdown: rows.flatMap((row) => linesOf(row, ownKeys)),
    balanceUsd: usdOf(account?.creditMicroUsd ?? 0),
    currency: 'USD',
  }
}

/** The costs of a row are those of whole requests, so that the first unit has them all. */
function linesOf({ provider, stage, costMicroUsd, quantities }: UsageRow, ownKeys: OwnKeys): UsageByProvider[] {
  if (provider == null || stage === undefined) return []
  const isOwn = Object.hasOwn(ownKeys, provider) && (costMicroUsd ?? 0) === 0
  return Object.entries(quantities)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([metric, quantity], at) => ({
      ...{ provider, metric, quantity },
      ...(stage !== 'carrier' && { type: stage }),
      keySource: isOwn ? ('BYOK' as const) : ('MANAGED' as const),
      cost: at === 0 ? usdOf(costMicroUsd ?? 0) : 0,
    }))
}
