/** SQL: the sums over a call's turns. */
import type { Tx } from '../postgres/connect.ts'
import { readableJson } from '../postgres/row-values.ts'

/** Returns a subquery with one row for the current row in `calls`. */
export function turnSums(tx: Tx) {
  return tx`
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
        where t.organization_id = calls.organization_id and t.test = calls.test and t.call_id = calls.id) as t) as turns`
}
