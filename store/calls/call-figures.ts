/** Computes statistics over calls from their `call_facts` rows, by time and by group. */
import {
  type CallFigureGroup,
  type CallFigures,
  type FigureQuery,
  type FigureRow,
  figureRowsMax,
} from '../../domain/calls/figures.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Worlds } from '../postgres/tenant.ts'
import { setZone, unlessZoneUnknown } from '../postgres/time-zones.ts'

const columns = {
  agent: 'agent_id',
  status: 'status',
  kind: 'kind',
  outcome: 'outcome',
  end_reason: 'end_reason',
  direction: 'direction',
} as const satisfies Record<CallFigureGroup, string>

type Row = Omit<FigureRow, 'bucketMs'> & { bucket: Date | null }

export function createCallFigures(worlds: Worlds): CallFigures {
  return {
    read: (tenant, query) => unlessZoneUnknown(worlds.asTenant(tenant, (tx) => readFigures(tx, tenant, query))),
  }
}

async function readFigures(tx: Tx, tenant: Tenant, query: FigureQuery) {
  const { groups } = query
  await setZone(tx, query.timeZone)
  const where = tx`
    organization_id = ${tenant.organizationId} and test = ${tenant.test}
    and created_at >= ${new Date(query.fromMs)} and created_at < ${new Date(query.toMs)}
    ${query.agentId === undefined ? tx`` : tx`and agent_id = ${query.agentId}`}
    ${query.kind === undefined ? tx`` : tx`and kind = ${query.kind}`}
    ${query.phoneNumberId === undefined ? tx`` : tx`and phone_number_id = ${query.phoneNumberId}`}`
  const bucket = query.interval === 'none' ? tx`null::timestamptz` : tx`date_trunc(${query.interval}::text, created_at)`
  const named = groups.map((group) => tx`, ${tx(columns[group])} as ${tx(group)}`)
  const names = groups.map((group) => tx`, ${tx(group)}`)
  const keys = tx`bucket ${names.length === 0 ? tx`` : names}`
  // The total is a grouping set of the same statement, because a second statement would read all facts again.
  const rows = await tx<Row[]>`
    select ${keys}, ${sums(tx)}
    from (
      select ${bucket} as bucket ${named.length === 0 ? tx`` : named}, status = 'failed' as is_failed, duration_s,
        cost_micro_usd, is_unpriced, p50_ms, interruptions, tool_failures
      from call_facts where ${where}) as facts
    group by grouping sets ((${keys}), ()) order by grouping(bucket) desc, ${keys} limit ${figureRowsMax + 2}`
  const [total, ...figures] = rows.map(rowOf)
  if (figures.length > figureRowsMax) return 'too_many_rows' as const
  return { rows: figures, total: total! }
}

/** The percentiles are over the medians in calls, because the latencies in turns are not kept apart from the turns. */
function sums(tx: Tx) {
  return tx`
    count(*)::int as calls, count(*) filter (where duration_s > 0)::int as connected,
    count(*) filter (where is_failed)::int as failed,
    coalesce(sum(greatest(duration_s, 0)), 0)::float8 as "durationS",
    coalesce(sum(greatest(cost_micro_usd, 0)), 0)::float8 as "costMicroUsd",
    count(*) filter (where is_unpriced)::int as unpriced,
    percentile_cont(0.5) within group (order by p50_ms) as p50,
    percentile_cont(0.95) within group (order by p50_ms) as p95,
    coalesce(sum(interruptions), 0)::int as interruptions, coalesce(sum(tool_failures), 0)::int as "toolFailures"`
}

function rowOf({ bucket, ...row }: Row): FigureRow {
  return { ...row, bucketMs: bucket?.getTime() ?? null }
}
