/** Statistics about many calls, such as their number, cost and latency by day. */
import type { CallKind } from '../records/call.ts'
import type { Tenant } from '../records/organization.ts'

export const callFigureGroups = ['agent', 'status', 'kind', 'outcome', 'end_reason', 'direction'] as const
export type CallFigureGroup = (typeof callFigureGroups)[number]

export const figureRowsMax = 5_000

/** `fromMs` is inclusive, `toMs` is not. The time zone is an IANA name. */
export type FigureQuery = {
  fromMs: number
  toMs: number
  interval: 'hour' | 'day' | 'none'
  timeZone: string
  groups: readonly CallFigureGroup[]
  agentId?: string
  kind?: CallKind
  phoneNumberId?: string
}

export type FigureRow = Partial<Record<CallFigureGroup, string | null>> & {
  /** The start of the hour or the day. Null if the interval is `none`. */
  bucketMs: number | null
  calls: number
  connected: number
  failed: number
  durationS: number
  costMicroUsd: number
  unpriced: number
  /** Null if no call has a latency. */
  p50: number | null
  p95: number | null
  interruptions: number
  toolFailures: number
}

export interface CallFigures {
  /** `zone_unknown`: the database lacks the time zone. */
  read(
    tenant: Tenant,
    query: FigureQuery,
  ): Promise<{ rows: readonly FigureRow[]; total: FigureRow } | 'too_many_rows' | 'zone_unknown'>
}
