/** Deletes old requests and their attempts. The daily usage and the calls' costs stay as sums. */
import type { Tx } from '../postgres/connect.ts'
import type { Sweep } from '../postgres/sweep.ts'
import { addToUsageDays, dayOf, hasFailed } from './usage-days.ts'

const rowsMax = 1_000

export function requestSweep(before: () => Date): Sweep {
  return { kind: 'requests', rowsMax, deleteSome: (tx) => deleteRequests(tx, before()) }
}

/**
 * Finds old requests organization by organization, by an existing index. So no index by time alone is needed. Attempts
 * are found by their request's id.
 */
async function deleteRequests(tx: Tx, before: Date): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    with due as materialized (
      select r.* from organizations o cross join lateral (
        select organization_id, request_id, stage, started_at from requests
        where organization_id = o.id and started_at < ${before}
        order by started_at limit ${rowsMax}) as r
      limit ${rowsMax}
    ), removed as (
      delete from requests r using due d
      where r.organization_id = d.organization_id and r.request_id = d.request_id and r.stage = d.stage
        and r.started_at = d.started_at
      returning r.*
    ), request as materialized (
      select r.*, w.test as world, c.id as stored_call_id, coalesce(c.agent_id, r.agent_id) as the_agent_id
      from removed r
        left join api_keys k on k.organization_id = r.organization_id and k.id = r.key_id
        cross join lateral (select coalesce(r.test, k.test, false) as test) as w
        left join calls c on c.organization_id = r.organization_id and c.test = w.test and c.id = r.call_id::uuid
    ), use as (
      select organization_id, world as test, ${tx.unsafe(dayOf('started_at'))} as day, key_id, the_agent_id as agent_id,
        provider, model, stage, false as is_leg, ${tx.unsafe(hasFailed('outcome'))} as has_failed, quantities,
        cost_micro_usd as micro_usd
      from request
    ), counted as (
      ${tx.unsafe(addToUsageDays('use'))}
    ), attempted as (
      delete from attempts a using (select distinct organization_id, request_id from removed) as r
      where a.organization_id = r.organization_id and a.request_id = r.request_id
    ), kept as (
      ${keepCallCosts(tx)}
    )
    select count(*)::integer as count from removed`
  return row.count
}

/**
 * Adds the costs of deleted attempts to their call's rows in `call_costs`. Attempts are summed if they differ only in
 * their quantities, so the cost lines in the call's report stay the same (domain/calls/costs.ts): an attempt's first
 * unit has its cost, and an unknown cost makes the whole line unknown. The statement reads the attempts from the table,
 * although it deletes them: it still sees its deleted rows there. A join with the deleted rows has no index and took
 * 360 ms for 1,000 requests.
 */
const keepCallCosts = (tx: Tx) => tx`
  insert into call_costs (organization_id, test, call_id, stage, provider, model, quantities, cost_micro_usd, price_source,
    key_source, started_at)
  select organization_id, test, call_id, stage, provider, model, sums.quantities, cost_micro_usd, price_source, key_source,
    started_at
  from (
    select r.organization_id, r.world as test, r.stored_call_id as call_id, r.stage, a.provider, a.model, a.price_source,
      a.key_source, sum(a.cost_micro_usd)::bigint as cost_micro_usd, min(a.started_at) as started_at,
      array_agg(a.quantities) as quantities
    from request r join attempts a on a.organization_id = r.organization_id and a.request_id = r.request_id
    where r.stored_call_id is not null
    group by r.organization_id, r.world, r.stored_call_id, r.stage, a.provider, a.model, a.price_source, a.key_source,
      a.priced, jsonb_path_query_array(a.quantities, '$[*].unit')
  ) as alike cross join lateral (
    select coalesce(jsonb_agg(jsonb_build_object('unit', unit, 'amount', amount) order by at), '[]') as quantities
    from (
      select q.at, q.item->>'unit' as unit, sum((q.item->>'amount')::numeric) as amount
      from unnest(alike.quantities) as one (quantities), jsonb_array_elements(one.quantities) with ordinality as q (item, at)
      group by q.at, q.item->>'unit'
    ) as unit
  ) as sums`
