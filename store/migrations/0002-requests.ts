import type { Migration } from './migration.ts'

export const requests: Migration = {
  version: 2,
  name: 'idempotency, ledger and credit',
  sql: `
-- Digests, ids, status and times; never a key or content.
create table idempotency_keys (
  organization_id text not null,
  operation text not null,
  key_digest bytea not null,
  content_hash bytea not null,
  request_id text not null,
  status text not null check (status in ('admitted', 'dispatched', 'succeeded', 'failed')),
  admitted_at timestamptz not null,
  dispatched_at timestamptz,
  finished_at timestamptz,
  lease_until timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, operation, key_digest)
-- A row is updated twice in its first seconds; no index holds a column that those updates change.
) with (fillfactor = 60);
create index idempotency_keys_expiry on idempotency_keys (expires_at);

-- The ledger. Its keys hold started_at, so that it can be partitioned by time.
create table requests (
  organization_id text not null,
  request_id text not null,
  stage text not null,
  started_at timestamptz not null,
  attempt_id text,
  key_id text not null,
  operation text not null,
  provider text,
  model text,
  outcome text not null,
  duration_ms double precision not null,
  first_byte_ms double precision,
  quantities jsonb not null,
  -- Null: the price is unknown, which is not 0.
  cost_micro_usd bigint,
  primary key (organization_id, request_id, stage, started_at)
);
create index requests_started on requests (organization_id, started_at);

-- Processes that share this database. What one of them held is given back when its row has run out.
create table instances (
  id text primary key,
  alive_until timestamptz not null
);

create table reservations (
  organization_id text not null,
  request_id text not null,
  micro_usd bigint not null check (micro_usd > 0),
  instance_id text not null,
  primary key (organization_id, request_id)
);

-- Takes a batch of {index, organizationId, requestId, microUsd} and answers the index of each ask that was granted: within an organization in
-- order, while the balance covers. A function and not a statement: each update sees the balance that the one before it left.
create function reserve_credit(asks json, instance text) returns setof integer
language plpgsql as $$
declare
  -- One order of organizations for everybody, or two batches could wait for each other.
  organization text;
  asked record;
begin
  for organization in
    select distinct a->>'organizationId' as id from json_array_elements(asks) a order by id
  loop
    -- Nearly always the balance covers them all: one update for the batch.
    return query
      with ask as materialized (
        select * from json_to_recordset(asks) as a (index int, "organizationId" text, "requestId" text, "microUsd" bigint)
        where "organizationId" = organization
      ), paid as (
        update organizations o set credit_micro_usd = o.credit_micro_usd - t.total
        from (select sum("microUsd")::bigint as total from ask) t
        where o.id = organization and o.credit_micro_usd >= t.total
        returning o.id
      ), kept as (
        insert into reservations as r (organization_id, request_id, micro_usd, instance_id)
        select organization, ask."requestId", sum(ask."microUsd"), instance from ask, paid group by ask."requestId"
        -- A request that goes on reserves again.
        on conflict (organization_id, request_id) do update set micro_usd = r.micro_usd + excluded.micro_usd
      )
      select ask.index from ask, paid;
    continue when found;
    for asked in
      select * from json_to_recordset(asks) as a (index int, "organizationId" text, "requestId" text, "microUsd" bigint)
      where "organizationId" = organization order by index
    loop
      update organizations set credit_micro_usd = credit_micro_usd - asked."microUsd"
        where id = organization and credit_micro_usd >= asked."microUsd";
      continue when not found;
      insert into reservations as r (organization_id, request_id, micro_usd, instance_id)
        values (organization, asked."requestId", asked."microUsd", instance)
        on conflict (organization_id, request_id) do update set micro_usd = r.micro_usd + excluded.micro_usd;
      return next asked.index;
    end loop;
  end loop;
end $$;

alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy own_organization on idempotency_keys
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
alter table requests enable row level security;
alter table requests force row level security;
create policy own_organization on requests
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
alter table reservations enable row level security;
alter table reservations force row level security;
create policy own_organization on reservations
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
