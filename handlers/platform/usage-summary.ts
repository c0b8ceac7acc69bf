/** Writes the totals for a time range as published clients read them: in US dollars, by provider and unit. */
import type { CreditAccounts } from '../../domain/billing/credit-account.ts'
import { totalOf, type UsageRow, type UsageSummary as UsageSums } from '../../domain/billing/usage.ts'
import type { OwnKeys, Tenant } from '../../domain/records/organization.ts'
import type { UsageByProvider, Usage as WireUsage } from '../../generated/platform/types.ts'
import { usdOf } from './money.ts'

export type UsageSummary = Omit<WireUsage, 'from' | 'to' | 'groupBy' | 'timeZone' | 'rows' | 'total'>

export type SummaryDeps = {
  creditAccounts: CreditAccounts
  /** Reads the organization's stored provider keys, by provider. */
  ownKeysOf: (organizationId: string) => Promise<OwnKeys>
}

const minuteMs = 60_000

export async function summaryOf(deps: SummaryDeps, tenant: Tenant, sums: UsageSums): Promise<UsageSummary> {
  const { creditAccounts, ownKeysOf } = deps
  const [account, ownKeys] = await Promise.all([
    creditAccounts.read(tenant.organizationId, 1, null),
    tenant.test ? {} : ownKeysOf(tenant.organizationId),
  ])
  return {
    totalSessions: sums.sessions.sessions,
    totalMinutes: sums.sessions.connectedMs / minuteMs,
    // The cost is summed from the rows that `total` is summed from, so that both show the same cost.
    totalCost: usdOf(totalOf(sums.rows).costMicroUsd ?? 0),
    breakdown: sums.byProvider.flatMap((row) => linesOf(row, ownKeys)),
    balanceUsd: usdOf(account?.creditMicroUsd ?? 0),
    currency: 'USD',
  }
}

/** Writes a line for each unit in a row. A row's cost is for whole requests, so it is on the first line only. */
function linesOf(row: UsageRow, ownKeys: OwnKeys): UsageByProvider[] {
  const { provider, stage, costMicroUsd, quantities } = row
  if (provider == null || stage === undefined) return []
  const keySource = isOfOwnKey(row, ownKeys) ? ('BYOK' as const) : ('MANAGED' as const)
  return Object.entries(quantities)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([metric, quantity], at) => ({
      ...{ provider, metric, quantity, keySource },
      ...(stage !== 'carrier' && { type: stage }),
      cost: at === 0 ? usdOf(costMicroUsd ?? 0) : 0,
    }))
}

/**
 * Returns true if the row's requests used the organization's provider key. Sums of old days do not contain this, so it
 * is guessed: true if the organization has a key for the provider, and the cost is known and 0.
 */
function isOfOwnKey({ provider, costMicroUsd, unpriced }: UsageRow, ownKeys: OwnKeys): boolean {
  return provider != null && Object.hasOwn(ownKeys, provider) && costMicroUsd === 0 && unpriced === 0
}
