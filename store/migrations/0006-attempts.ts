import type { Migration } from './migration.ts'

export const attempts: Migration = {
  version: 6,
  name: 'attempts and the choices behind them',
  sql: `
-- A row for each call to a provider, failed ones too.
create table attempts (
  organization_id text not null,
  request_id text not null,
  -- From 1, in the order made.
  number smallint not null,
  attempt_id text not null,
  provider text not null,
  model text not null,
  -- succeeded, or the class of the failure.
  outcome text not null,
  started_at timestamptz not null,
  duration_ms double precision not null,
  first_byte_ms double precision,
  quantities jsonb not null,
  -- Null: the price is unknown, which is not 0.
  cost_micro_usd bigint,
  priced boolean not null generated always as (cost_micro_usd is not null) stored,
  -- Who published the price, and when.
  price_source text,
  key_source text not null check (key_source in ('platform', 'byok')),
  primary key (organization_id, request_id, number)
);

-- Why requests went where they went, each distinct explanation once.
create table choices (
  organization_id text not null,
  -- From the SHA-256 of the explanation.
  id text not null,
  explanation json not null,
  seen_at timestamptz not null,
  primary key (organization_id, id)
);
create index choices_seen on choices (seen_at);
alter table requests add column choice_id text;

alter table attempts enable row level security;
alter table attempts force row level security;
create policy own_organization on attempts
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
alter table choices enable row level security;
alter table choices force row level security;
create policy own_organization on choices
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
