import { ownOrganization, ownOrganizationFast } from '../../postgres/policies.ts'

/** Tables with rows for every request to the router: idempotency key, ledger row, attempts and routing choice. */
export const requests = `
-- Digests, ids, status and times; never a key or content.
create table idempotency_keys (
  organization_id text not null,
  operation text not null,
  key_digest bytea not null,
  content_hash bytea not null,
  request_id text not null,
  -- admitted, dispatched, succeeded or failed. The table has no check for it: Postgres parses the text of a check anew for
  -- every statement, and a request waits for this one. A reader takes an unknown status for dispatched.
  status text not null,
  -- The answer that a repeated request gets. Null: the operation keeps no answers, or the request has no answer yet.
  answer_status integer,
  answer_body text,
  admitted_at timestamptz not null,
  dispatched_at timestamptz,
  finished_at timestamptz,
  lease_until timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, operation, key_digest)
-- A row is updated twice in its first seconds. No index holds a column that these updates change.
) with (fillfactor = 60);
create index idempotency_keys_expiry on idempotency_keys (expires_at);
${ownOrganizationFast('idempotency_keys')}
-- The ledger. The primary key holds started_at, so that the table can be partitioned by time.
create table requests (
  organization_id text not null,
  -- The world of the key. A call that comes in has the number in the place of the key. Null: the key says the world.
  test boolean,
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
  -- The explanation of the choice, in choices.
  choice_id text,
  -- The call that the request is a part of.
  call_id text,
  -- The agent of the call, if the call was deleted before the request.
  agent_id text,
  primary key (organization_id, request_id, stage, started_at)
);
create index requests_started on requests (organization_id, started_at);
create index requests_of_call on requests (organization_id, call_id) where call_id is not null;
${ownOrganizationFast('requests')}
-- A row for each attempt, also for a failed attempt.
create table attempts (
  organization_id text not null,
  request_id text not null,
  -- From 1, in the order in which the attempts began.
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
  -- The publisher of the price, and its date.
  price_source text,
  key_source text not null check (key_source in ('platform', 'byok')),
  primary key (organization_id, request_id, number)
);
${ownOrganizationFast('attempts')}
-- Why requests went to their providers. Each distinct explanation is stored once.
create table choices (
  organization_id text not null,
  -- From the SHA-256 of the explanation.
  id text not null,
  explanation json not null,
  seen_at timestamptz not null,
  primary key (organization_id, id)
);
create index choices_seen on choices (seen_at);
${ownOrganization('choices')}`
