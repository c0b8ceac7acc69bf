/** Lists calls with an overview for each: the counts, latency, cost and outcome in a list's row. */
import type {
  CallFilter,
  CallOverview,
  CallOverviewPage,
  CallPosition,
  OverviewPosition,
  OverviewQuery,
  TurnMatch,
} from '../../domain/calls/store.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral, readableJson } from '../postgres/row-values.ts'
import { callsThatMatch } from './call-filter.ts'
import { listCalls } from './call-lists.ts'
import { callColumns, type SummaryRow, summaryOf } from './call-rows.ts'
import { endOfFacts, factsOf, findCalls, matchingIds, needsFacts } from './found-calls.ts'
import { searchTurns } from './turn-search.ts'
import { turnSums } from './turn-sums.ts'

type Facts = Omit<
  CallOverview,
  keyof ReturnType<typeof summaryOf> | 'latencyMs' | 'slowestTurn' | 'matches' | 'costMicroUsd'
>
type FactsRow = SummaryRow &
  Facts & {
    p50: number | null
    slowestIndex: number | null
    slowestMs: number
    slowestAtMs: number
    cost: number | null
  }

export async function listOverviews(tx: Tx, tenant: Tenant, query: OverviewQuery): Promise<CallOverviewPage> {
  const { filter, words, sort, limit, after } = query
  const createdAfter = after && createdOf(after)
  const isOfFacts = needsFacts(filter, sort)
  if (words.length > 0) {
    const source = isOfFacts
      ? factsOf(tx, tenant, filter, after)
      : tx`calls where ${callsThatMatch(tx, tenant, filter, createdAfter)}`
    const end = isOfFacts ? await endOfFacts(tx, tenant, filter, after) : null
    const { matches, next } = await searchTurns(tx, source, words, { limit, end: end && createdOf(end) })
    return { calls: await readOverviews(tx, tenant, [...matches.keys()], matches), next: next && positionOf(next) }
  }
  if (isOfFacts) {
    const { ids, next } = await findCalls(tx, tenant, filter, { sort, limit, after })
    return { calls: await readOverviews(tx, tenant, ids, new Map()), next }
  }
  const { calls, next } = await listCalls(tx, tenant, filter, limit, createdAfter)
  const ids = calls.map(({ id }) => id)
  return { calls: await readOverviews(tx, tenant, ids, new Map()), next: next && positionOf(next) }
}

export async function overviewsOf(
  tx: Tx,
  tenant: Tenant,
  filter: CallFilter,
  ids: readonly string[],
): Promise<CallOverview[]> {
  return readOverviews(tx, tenant, await matchingIds(tx, tenant, filter, ids), new Map())
}

const createdOf = ({ at, id }: OverviewPosition): CallPosition => ({ createdAtUs: at, id })
const positionOf = ({ createdAtUs, id }: CallPosition): OverviewPosition => ({ at: createdAtUs, id })

/**
 * Reads overviews. Counts and latencies are computed from the turns of these calls. A call has about 20 turns, so no
 * sums are stored.
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
        where t.organization_id = calls.organization_id and t.test = calls.test and t.call_id = calls.id) as transfers,
      (select count(*)::int from call_events e where e.organization_id = calls.organization_id and e.test = calls.test
        and e.call_id = calls.id and e.type = 'agent.failover') as failovers,
      agent_version as "agentVersion",
      (select nullif(cost_micro_usd, -1)::float8 from call_facts f
        where f.organization_id = calls.organization_id and f.test = calls.test and f.id = calls.id) as cost
    from calls cross join lateral ( ${turnSums(tx)} ) as facts
    where organization_id = ${organizationId} and test = ${test} and id = any(${arrayLiteral(ids)}::uuid[])`
  const found = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => {
    const row = found.get(id)
    return row === undefined ? [] : [overviewOf(row, matches.get(id) ?? [])]
  })
}

function overviewOf(row: FactsRow, matches: readonly TurnMatch[]): CallOverview {
  const { agentName, agentVersion, outcome, turns, interruptions, toolCalls, toolFailures, transfers, failovers } = row
  const { p50, slowestIndex, slowestMs, slowestAtMs } = row
  const isTimed = p50 !== null && slowestIndex !== null
  return {
    ...summaryOf(row),
    ...{
      agentName,
      agentVersion,
      outcome,
      turns,
      interruptions,
      toolCalls,
      toolFailures,
      transfers,
      failovers,
      matches,
    },
    costMicroUsd: row.cost,
    latencyMs: isTimed ? { p50, max: slowestMs } : null,
    slowestTurn: isTimed ? { index: slowestIndex, latencyMs: slowestMs, startedAtMs: slowestAtMs } : null,
  }
}
