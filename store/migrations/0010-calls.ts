import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const calls: Migration = {
  version: 10,
  name: 'calls: turns, events, spans and reports',
  sql: `
create table calls (
  organization_id text not null references organizations,
  test boolean not null,
  -- Of the session too.
  id uuid not null,
  -- Stays when the agent is deleted.
  agent_id text,
  key_id text not null,
  status text not null,
  kind text not null,
  language text not null,
  identity text not null,
  -- json and not jsonb, as in agents.
  pipeline json not null,
  metadata json not null,
  webhook_tags json not null,
  -- The secrets of the tools (sealed.ts), until the call is over. Null where it has none.
  sealed bytea,
  sealed_by text,
  -- No two calls that one process makes have the same microsecond.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  end_reason text,
  recording_status text,
  recording_duration_ms integer,
  -- The serving process that holds the media.
  owner_id text,
  primary key (organization_id, test, id),
  check ((sealed is null) = (sealed_by is null)),
  check ((ended_at is null) = (end_reason is null))
);
create index calls_created on calls (organization_id, test, created_at);
create index calls_of_agent on calls (organization_id, test, agent_id, created_at);
-- The calls that are not over: few, and looked for often.
create index calls_live on calls (organization_id) where ended_at is null;
create index calls_sealed_by on calls (sealed_by) where sealed_by is not null;

create table call_turns (
  organization_id text not null,
  test boolean not null,
  call_id uuid not null,
  -- From 0, in the order in which the turns ended.
  index integer not null,
  id uuid not null,
  source text not null,
  turn json not null,
  primary key (organization_id, test, call_id, index),
  unique (organization_id, test, call_id, id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);

create table call_events (
  organization_id text not null,
  test boolean not null,
  call_id uuid not null,
  id uuid not null,
  provider text not null,
  type text not null,
  -- That of the call after the event.
  status text,
  failure_cause text,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  -- Never content.
  payload json not null,
  primary key (organization_id, test, call_id, id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create index call_events_occurred on call_events (organization_id, test, call_id, occurred_at);

create table call_spans (
  organization_id text not null,
  test boolean not null,
  call_id uuid not null,
  id text not null,
  start_ms double precision not null,
  span json not null,
  primary key (organization_id, test, call_id, id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);

create table call_reports (
  organization_id text not null,
  test boolean not null,
  call_id uuid not null,
  -- Rises with each analysis.
  version integer not null,
  analysis_status text not null,
  summary text not null,
  outcome text not null,
  -- Null while the analysis is pending.
  structured_data json,
  custom_data json not null,
  analysis_provider text,
  analysis_model text,
  analysis_error text,
  analysis_completed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A process analyses the call until then.
  claimed_until timestamptz,
  primary key (organization_id, test, call_id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create index call_reports_pending on call_reports (created_at) where analysis_status = 'pending';
${['calls', 'call_turns', 'call_events', 'call_spans', 'call_reports'].map(ownWorld).join('')}
-- The call that a request is a part of.
alter table requests add column call_id text;
create index requests_of_call on requests (organization_id, call_id) where call_id is not null;
`,
}
