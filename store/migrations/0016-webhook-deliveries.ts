import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const webhookDeliveries: Migration = {
  version: 16,
  name: 'webhook events, their deliveries and attempts',
  sql: `
create table webhook_events (
  organization_id text not null references organizations,
  test boolean not null,
  -- The webhook-id of all its deliveries.
  id uuid not null,
  type text not null,
  -- No foreign key: a test event has a call that never was.
  call_id uuid not null,
  agent_id text,
  tags json not null,
  -- Of a report.
  version integer,
  -- These bytes are signed and sent at each attempt.
  body bytea not null,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  primary key (organization_id, test, id)
);
-- For the end of the log.
create index webhook_events_created on webhook_events (created_at);

create table webhook_deliveries (
  organization_id text not null,
  test boolean not null,
  id uuid not null,
  event_id uuid not null,
  -- Both stay when the endpoint is deleted.
  endpoint_id uuid not null,
  endpoint_name text not null,
  -- Those of the event, for the filters of the log.
  type text not null,
  call_id uuid not null,
  agent_id text,
  version integer,
  status text not null check (status in ('pending', 'delivering', 'succeeded', 'failed', 'cancelled', 'expired')),
  -- Attempts that have ended.
  attempts integer not null default 0,
  -- Attempts of the schedule that have failed. A redelivery is not of the schedule.
  failures integer not null default 0,
  -- Rises whenever a process takes the delivery. The end of an attempt is stored only under the number of its claim.
  claim integer not null default 0,
  due_at timestamptz not null,
  -- Another process takes over then.
  claimed_until timestamptz,
  owner_id text,
  -- During a redelivery: the status to return to when it fails.
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
-- Those that are not over: few, and looked for often.
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, due_at) where status = 'pending';
create index webhook_deliveries_expiring on webhook_deliveries (expires_at) where status = 'pending';
create index webhook_deliveries_claimed on webhook_deliveries (claimed_until) where status = 'delivering';

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
${['webhook_events', 'webhook_deliveries', 'webhook_attempts'].map(ownWorld).join('')}`,
}
