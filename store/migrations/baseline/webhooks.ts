import { ownOrganization, ownWorld } from '../../postgres/policies.ts'

/**
 * Tables for webhook endpoints and their secrets, events, deliveries with their attempts, and open streams of events.
 */
export const webhooks = `
-- Live and test keys share the secret. It is made when it is first needed, because a migration has no master key.
create table webhook_secrets (
  organization_id text primary key references organizations,
  -- Each secret has a new id.
  id text not null,
  -- The secret, and the secret before it for as long as that one signs too (store/sealing/sealed.ts).
  sealed bytea not null,
  -- Names the master key.
  sealed_by text not null,
  created_at timestamptz not null
);
create index webhook_secrets_sealed_by on webhook_secrets (sealed_by);
${ownOrganization('webhook_secrets')}
create table webhook_endpoints (
  organization_id text not null references organizations,
  test boolean not null,
  id uuid not null,
  name text not null,
  url text not null,
  -- Names of event types, and ids of agents. jsonb, because statements look for one of them.
  events jsonb not null,
  all_agents boolean not null,
  agent_ids jsonb not null,
  -- json and not jsonb, as in agents.
  filter_tags json not null,
  headers json not null,
  -- The names of headers with secret values, in the spelling of the request.
  auth_headers json not null,
  -- Null: the default.
  timeout_ms integer,
  signing_secret_source text not null check (signing_secret_source in ('workspace', 'custom')),
  extraction_fields json not null,
  -- The values of secret headers and the custom secrets (store/sealing/sealed.ts). Null: the endpoint has no secrets. New
  -- secrets get a new id.
  secrets_id text,
  sealed bytea,
  sealed_by text,
  -- The endpoint was made from this deprecated field of this agent.
  legacy_agent_id text,
  legacy_field text,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing', 'agents_deleted')),
  -- The first failure since the last success.
  failing_since timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Orders endpoints of the same millisecond.
  position bigint generated always as identity,
  primary key (organization_id, test, id),
  -- Also finds the endpoints of a call: the endpoints of its agent, and the endpoints that belong to no agent.
  unique (organization_id, test, legacy_agent_id, legacy_field),
  check ((sealed is null) = (sealed_by is null) and (sealed is null) = (secrets_id is null)),
  check ((legacy_agent_id is null) = (legacy_field is null)),
  check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_endpoints_sealed_by on webhook_endpoints (sealed_by) where sealed_by is not null;
${ownWorld('webhook_endpoints')}
create table webhook_events (
  organization_id text not null references organizations,
  test boolean not null,
  -- The webhook-id of all deliveries of the event.
  id uuid not null,
  type text not null,
  -- Null: the event is about a rich message. No foreign key, because the call of a test event does not exist.
  call_id uuid,
  agent_id text,
  tags json not null,
  -- The version of a report.
  version integer,
  -- These bytes are signed and sent at each attempt.
  body bytea not null,
  -- The provider's id of an event of a rich message, which is the webhook-id of its deliveries.
  provider_event_id text,
  -- Until then the process that has claimed an event of a rich message sends it.
  working_until timestamptz,
  -- All subscriptions have taken the event.
  is_taken boolean not null default false,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  primary key (organization_id, test, id)
);
-- For the deletion of old events.
create index webhook_events_created on webhook_events (created_at);
create unique index webhook_events_provider on webhook_events (provider_event_id) where provider_event_id is not null;
${ownWorld('webhook_events')}
create table webhook_deliveries (
  organization_id text not null,
  test boolean not null,
  id uuid not null,
  event_id uuid not null,
  -- Id and name stay when the endpoint is deleted.
  endpoint_id uuid not null,
  endpoint_name text not null,
  -- These four are copies from the event, for the filters of the log.
  type text not null,
  call_id uuid,
  agent_id text,
  version integer,
  -- The bytes of the delivery if they differ from the bytes of its event, because endpoints have different extraction fields.
  body bytea,
  status text not null check (status in ('pending', 'delivering', 'succeeded', 'failed', 'cancelled', 'expired')),
  -- Attempts that have ended.
  attempts integer not null default 0,
  -- Attempts of the schedule that have failed. A redelivery is not a part of the schedule.
  failures integer not null default 0,
  -- Rises when a process takes the delivery. The end of an attempt is stored only under the number of its claim.
  claim integer not null default 0,
  due_at timestamptz not null,
  -- Another process takes over then.
  claimed_until timestamptz,
  owner_id text,
  -- During a redelivery: the status that returns if the redelivery fails.
  redelivered_from text,
  -- There is a newer report of the call for this endpoint, so no further attempt begins.
  superseded boolean not null default false,
  http_status integer,
  error text,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  delivered_at timestamptz,
  primary key (organization_id, test, id),
  foreign key (organization_id, test, event_id) references webhook_events on delete cascade,
  check ((status = 'delivering') = (claimed_until is not null)),
  check ((status = 'delivering') = (owner_id is not null))
);
create index webhook_deliveries_created on webhook_deliveries (organization_id, test, created_at, id);
create index webhook_deliveries_of_endpoint on webhook_deliveries (organization_id, test, endpoint_id, created_at, id);
create index webhook_deliveries_of_call on webhook_deliveries (organization_id, test, call_id, endpoint_id);
create index webhook_deliveries_of_event on webhook_deliveries (organization_id, test, event_id);
-- A subscription to rich messages has one delivery of an event, also if the provider sends the event again.
create unique index webhook_deliveries_rmsg on webhook_deliveries (organization_id, test, event_id, endpoint_id) where call_id is null;
-- Deliveries that are not over are few, and looked for often.
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at) where status = 'pending';
create index webhook_deliveries_expiring on webhook_deliveries (expires_at) where status = 'pending';
create index webhook_deliveries_claimed on webhook_deliveries (claimed_until) where status = 'delivering';
${ownWorld('webhook_deliveries')}
create table webhook_attempts (
  organization_id text not null,
  test boolean not null,
  delivery_id uuid not null,
  -- From 1.
  number integer not null,
  id uuid not null,
  trigger text not null check (trigger in ('automatic', 'manual')),
  request_url text not null,
  -- json and not jsonb, as in agents. Secret values are masked.
  request_headers json not null,
  response_status integer,
  -- The first 4,096 bytes.
  response_body bytea,
  response_truncated boolean not null,
  duration_ms double precision not null,
  error text,
  created_at timestamptz not null,
  primary key (organization_id, test, delivery_id, number),
  foreign key (organization_id, test, delivery_id) references webhook_deliveries on delete cascade
);
${ownWorld('webhook_attempts')}
-- The tenants with a stream that is open, or was open a moment ago.
create table webhook_streams (
  organization_id text not null references organizations,
  test boolean not null,
  open_until timestamptz not null,
  primary key (organization_id, test)
);
${ownWorld('webhook_streams')}`
