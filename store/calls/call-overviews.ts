/** Lists calls with an overview of each, newest first. */
import type { CallFilter, CallOverview, CallOverviewPage, CallPosition, TurnMatch } from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, readableJson } from '../postgres/row-values.ts'
import { callsThatMatch } from './call-filter.ts'
import { listCalls } from './call-lists.ts'
import { callColumns, type SummaryRow, summaryOf } from './call-rows.ts'
import { searchTurns } from './turn-search.ts'

type Filter = CallFilter & { words: readonly string[] }
type Facts = Omit<CallOverview, keyof ReturnType<typeof summaryOf> | 'latencyMs' | 'slowestTurn' | 'matches'>
type FactsRow = SummaryRow &
  Facts & { p50: number | null; slowestIndex: number | null; slowestMs: number; slowestAtMs: number }

export async function listOverviews(
  tx: Tx,
  tenant: Tenant,
  { words, ...filter }: Filter,
  limit: number,
  after: CallPosition | null,
): Promise<CallOverviewPage> {
  if (words.length > 0) {
    const { matches, next } = await searchTurns(tx, callsThatMatch(tx, tenant, filter, after), words, limit)
    return { calls: await readOverviews(tx, tenant, [...matches.keys()], matches), next }
  }
  const { calls, next } = await listCalls(tx, tenant, filter, limit, after)
  const ids = calls.map(({ id }) => id)
  return { calls: await readOverviews(tx, tenant, ids, new Map()), next }
}

/**
 * Reads overviews. The figures are summed from the turns of these calls, about 20 each, so no sums are stored.
 */
async function readOverviews(
  tx: Tx,
  { organizationId, test }: Tenant,
  ids: readonly string[],
  matches: ReadonlyMap<string, readonly TurnMatch[]>,
): Promise<CallOverview[]> {
  const rows = await tx<FactsRow[]>`
    select ${callColumns(tx)}, facts.*,
      (select ${readableJson(tx, 'settings')}->'name' from agents a
        where a.organization_id = calls.organization_id and a.test = calls.test and a.id = agent_id) as "agentName",
      (select outcome from call_reports r
        where r.organization_id = calls.organization_id and r.test = calls.test and r.call_id = calls.id) as outcome,
      (select count(*)::int from transfers t
        where t.organization_id = calls.organization_id and t.test = calls.test and t.call_id = calls.id) as transfers
    from calls cross join lateral (
      select count(*)::int as turns, count(*) filter (where is_interrupted)::int as interruptions,
        coalesce(sum(tool_calls), 0)::int as "toolCalls", coalesce(sum(tool_failures), 0)::int as "toolFailures",
        percentile_cont(0.5) within group (order by latency_ms) as p50,
        (array_agg(index order by latency_ms desc nulls last, index))[1] as "slowestIndex",
        (array_agg(started_at_ms order by latency_ms desc nulls last, index))[1] as "slowestAtMs",
        max(latency_ms) as "slowestMs"
      from (
        select index, (turn->'latencyStatus')::text = '"interrupted"' as is_interrupted,
          nullif((turn->'conversationalLatencyMs')::text, 'null')::float8 as latency_ms,
          (turn->'startedAtMs')::text::float8 as started_at_ms,
          json_array_length(turn->'toolCalls') as tool_calls,
          (select count(*) from json_array_elements(turn->'toolCalls') e where (e->'status')::text = '"failed"')
            as tool_failures
        from (
          select index, ${readableJson(tx, 'turn')} as turn from call_turns t
          where t.organization_id = calls.organization_id and t.test = calls.test and t.call_id = calls.id) as t) as turns
    ) as facts
    where organization_id = ${organizationId} and test = ${test} and id = any(${arrayLiteral(ids)}::uuid[])
    order by created_at desc, id desc`
  return rows.map((row) => overviewOf(row, matches.get(row.id) ?? []))
}

function overviewOf(row: FactsRow, matches: readonly TurnMatch[]): CallOverview {
  const { agentName, outcome, turns, interruptions, toolCalls, toolFailures, transfers } = row
  const { p50, slowestIndex, slowestMs, slowestAtMs } = row
  const isTimed = p50 !== null && slowestIndex !== null
  return {
    ...summaryOf(row),
    ...{ agentName, outcome, turns, interruptions, toolCalls, toolFailures, transfers, matches },
    latencyMs: isTimed ? { p50, max: slowestMs } : null,
    slowestTurn: isTimed ? { index: slowestIndex, latencyMs: slowestMs, startedAtMs: slowestAtMs } : null,
  }
}
