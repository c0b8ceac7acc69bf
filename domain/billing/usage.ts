/** Usage in a time range: sums over a tenant's ledger rows and call legs, grouped as the query says. */
import type { Stage } from '../ports/model.ts'
import type { Tenant } from '../records/organization.ts'

export const usageGroups = ['hour', 'day', 'key', 'agent', 'provider', 'model', 'stage'] as const
export type UsageGroup = (typeof usageGroups)[number]

/**
 * `toMs` is exclusive. A request counts at its start time. A call leg counts at the time when it was answered, but only
 * after it has ended.
 */
export type UsageQuery = {
  fromMs: number
  toMs: number
  groups: ReadonlySet<UsageGroup>
  /** The IANA name for the time zone of hours and days. */
  timeZone: string
  /** Only usage with these values is summed. */
  filter: UsageFilter
}

export type UsageFilter = Partial<Record<Exclude<UsageGroup, 'hour' | 'day'>, string>>

/**
 * A group's field is absent if the query does not name the group. It is null if the group does not apply, such as an
 * agent for a request without a call.
 */
export type UsageRow = Partial<Record<Exclude<UsageGroup, 'stage'>, string | null>> & {
  stage?: Stage | 'carrier'
} & UsageSum

export type UsageSum = {
  requests: number
  /** Counts legs in phone calls. */
  legs: number
  /** Counts failed requests. A cancelled request is not a failure. */
  failed: number
  /** Counts requests and legs with an unknown cost. `costMicroUsd` does not include them. */
  unpriced: number
  /** Null if no cost is known. */
  costMicroUsd: number | null
  /** The quantities that were used, by unit. */
  quantities: Readonly<Record<string, number>>
}

export interface Usage {
  /** Reads rows sorted by the groups. */
  read(tenant: Tenant, query: UsageQuery): Promise<readonly UsageRow[] | UsageRefusal>
  /**
   * Reads the rows for the query, the rows by provider and stage, and the sessions in the time range, all from one
   * database snapshot.
   */
  summarize(tenant: Tenant, query: UsageQuery): Promise<UsageSummary | UsageRefusal>
}

/** `too_many_rows`: there would be more than `usageRowsMax` rows. `zone_unknown`: the database lacks the time zone. */
export type UsageRefusal = 'too_many_rows' | 'zone_unknown'

export type UsageSummary = {
  rows: readonly UsageRow[]
  byProvider: readonly UsageRow[]
  /** Old sessions that were deleted are not counted. */
  sessions: SessionTotals
}

/** Counts sessions and calls created in a time range, and sums the connected time of ended calls. */
export type SessionTotals = { sessions: number; connectedMs: number }

/** Limits the rows in a response, because each row has several quantities. */
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
