/** Usage in a time range: sums over a tenant's ledger rows and call legs, by the query's groups. */
import type { Stage } from '../ports/model.ts'
import type { Tenant } from '../records/organization.ts'

export const usageGroups = ['day', 'key', 'agent', 'provider', 'model', 'stage'] as const
export type UsageGroup = (typeof usageGroups)[number]

/** `toMs` is not included. A request counts for its start. A leg counts for its answer, and only after its end. */
export type UsageQuery = { fromMs: number; toMs: number; groups: ReadonlySet<UsageGroup> }

/**
 * A group is absent if the query does not name it. Null if the group does not apply, such as an agent without a call.
 */
export type UsageRow = Partial<Record<Exclude<UsageGroup, 'stage'>, string | null>> & {
  stage?: Stage | 'carrier'
} & UsageSum

export type UsageSum = {
  requests: number
  /** Legs in phone calls. */
  legs: number
  /** Failed requests. A cancelled request has not failed. */
  failed: number
  /** Requests and legs with an unknown cost. They are not in `costMicroUsd`. */
  unpriced: number
  /** Null if no cost is known. */
  costMicroUsd: number | null
  /** By unit. */
  quantities: Readonly<Record<string, number>>
}

export interface Usage {
  /** Sorted by the groups. `too_many_rows`: the groups give more than `usageRowsMax` rows. */
  read(tenant: Tenant, query: UsageQuery): Promise<readonly UsageRow[] | 'too_many_rows'>
  /** Like `read`, with rows by provider and stage and the sessions in the same time, all from one snapshot. */
  summarize(tenant: Tenant, query: UsageQuery): Promise<UsageSummary | 'too_many_rows'>
}

export type UsageSummary = {
  rows: readonly UsageRow[]
  byProvider: readonly UsageRow[]
  /** Deleted old sessions are not counted. */
  sessions: SessionTotals
}

/** The number of sessions and calls created in a time range, and the ended calls' connected time. */
export type SessionTotals = { sessions: number; connectedMs: number }

/** The most rows in an answer, each with a few units. */
export const usageRowsMax = 5_000

export function totalOf(rows: readonly UsageSum[]): UsageSum {
  const quantities: Record<string, number> = {}
  let [requests, legs, failed, unpriced] = [0, 0, 0, 0]
  let costMicroUsd: number | null = rows.length === 0 ? 0 : null
  for (const row of rows) {
    requests += row.requests
    legs += row.legs
    failed += row.failed
    unpriced += row.unpriced
    if (row.costMicroUsd !== null) costMicroUsd = (costMicroUsd ?? 0) + row.costMicroUsd
    for (const [unit, amount] of Object.entries(row.quantities)) quantities[unit] = (quantities[unit] ?? 0) + amount
  }
  return { requests, legs, failed, unpriced, costMicroUsd, quantities }
}
