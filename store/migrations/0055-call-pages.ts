import { ownWorld } from '../postgres/policies.ts'
import type { Migration } from './migration.ts'

/**
 * Adds what pages about calls show: the results of tool calls, and the facts by which calls are found and sorted. Older
 * turns have no results. The facts of older calls are made by a loop after the start.
 */
export const callPages: Migration = {
  version: 55,
  name: 'the results of tool calls, and facts about calls',
  sql: `
-- A list of the results of the turn's tool calls, in their order. They are content, as the turn is, and are deleted with it.
alter table call_turns add column tool_results json;
-- A narrow row for each call, because a list that filters calls reads many of them.
create table call_facts (
  organization_id text not null,
  test boolean not null,
  id uuid not null,
  created_at timestamptz not null,
  agent_id text,
  agent_version integer,
  status text not null,
  kind text not null,
  direction text,
  phone_number_id text,
  -- The digits of the numbers from the last to the first, so that the end of a number is a beginning here.
  from_reversed text,
  to_reversed text,
  end_reason text,
  outcome text,
  is_live boolean not null,
  has_recording boolean not null,
  turns integer not null,
  interruptions integer not null,
  tool_failures integer not null,
  transfers integer not null,
  failovers integer not null,
  p50_ms double precision,
  -- The values by which calls are sorted. -1: the call has none yet.
  duration_s integer not null,
  slowest_us bigint not null,
  cost_micro_usd bigint not null,
  -- The cost is not complete, because a price is not known.
  is_unpriced boolean not null,
  -- Costs and the report come after the end of the call, so the row is made again then.
  due_at timestamptz,
  primary key (organization_id, test, id),
  foreign key (organization_id, test, id) references calls on delete cascade
) with (fillfactor = 80);
create index call_facts_created on call_facts (organization_id, test, created_at, id);
create index call_facts_duration on call_facts (organization_id, test, duration_s, id);
create index call_facts_slowest on call_facts (organization_id, test, slowest_us, id);
create index call_facts_cost on call_facts (organization_id, test, cost_micro_usd, id);
create index call_facts_due on call_facts (due_at) where due_at is not null;
${ownWorld('call_facts')}`,
}
