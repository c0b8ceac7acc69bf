/** Usage over a time: the ledger rows and the legs of calls of one world of an organization, summed by what is asked. */
import type { Stage } from '../ports/model.ts'
import type { Tenant } from '../records/organization.ts'

export const usageGroups = ['day', 'key', 'agent', 'provider', 'model', 'stage'] as const
export type UsageGroup = (typeof usageGroups)[number]

/** `to` is not included. A request counts for the time at which it started, a leg for that of its answer, and only after its end. */
export type UsageQuery = { fromMs: number; toMs: number; groups: ReadonlySet<UsageGroup> }

/** A group that was not asked for is absent. Null: it does not apply, as an agent to a request that is part of no call. */
export type UsageRow = Partial<Record<Exclude<UsageGroup, 'stage'>, string | null>> & {
  stage?: Stage | 'carrier'
} & UsageSum

export type UsageSum = {
  requests: number
  /** Legs of calls by phone. */
  legs: number
  /** Requests that did not succeed. */
  failed: number
  /** Requests and legs whose cost is not known. They are not in `costMicroUsd`. */
  unpriced: number
  /** Null: no cost in it is known. */
  costMicroUsd: number | null
  /** By unit. */
  quantities: Readonly<Record<string, number>>
}

export interface Usage {
  /** In the order of the groups. `too_many_rows`: the groups divide the time into more than `usageRowsMax`. */
  read(tenant: Tenant, query: UsageQuery): Promise<readonly UsageRow[] | 'too_many_rows'>
  /** As `read`, with the rows of each provider and stage and the sessions of the same time, all as they were at one moment. */
  summarize(tenant: Tenant, query: UsageQuery): Promise<UsageSummary | 'too_many_rows'>
}

export type UsageSummary = {
  rows: readonly UsageRow[]
  byProvider: readonly UsageRow[]
  /** Sessions that were deleted for their age are not in it. */
  sessions: SessionTotals
}

/** Sessions and calls that began in a time, and the time for which those that are over were connected. */
export type SessionTotals = { sessions: number; connectedMs: number }

/** Rows of an answer, each with a few units. */
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
