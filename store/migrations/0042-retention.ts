import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const retention: Migration = {
  version: 42,
  name: 'what stays of rows that are deleted for their age',
  sql: `
-- Sums of the requests and legs that are deleted: a row for each unit of a day (UTC) and its key, agent, provider, model and stage.
-- The row without a unit is about uses without a quantity.
create table usage_days (
  organization_id text not null,
  test boolean not null,
  day date not null,
  key_id text not null,
  agent_id text,
  provider text,
  model text,
  stage text not null,
  unit text,
  -- Decimal, so that the sum does not depend on the order in which it was made.
  amount numeric,
  -- A use is counted in the row of its first unit.
  requests bigint not null,
  legs bigint not null,
  failed bigint not null,
  unpriced bigint not null,
  -- Null: no price of the uses is known, which is not 0.
  cost_micro_usd bigint,
  unique nulls not distinct (organization_id, test, day, key_id, agent_id, provider, model, stage, unit)
);

-- Sums of the attempts of a call whose requests are deleted before it. Read as attempts are.
create table call_costs (
  organization_id text not null,
  test boolean not null,
  call_id uuid not null,
  stage text not null,
  provider text not null,
  model text not null,
  quantities jsonb not null,
  cost_micro_usd bigint,
  price_source text,
  key_source text not null,
  -- Of the first attempt.
  started_at timestamptz not null,
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create index call_costs_of_call on call_costs (organization_id, test, call_id);

-- The agent of a request whose call is deleted before it.
alter table requests add column agent_id text;
alter table calls add column events_removed boolean not null default false;
${['usage_days', 'call_costs'].map(ownWorld).join('')}`,
}
