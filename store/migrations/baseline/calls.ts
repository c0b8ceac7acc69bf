import { ownWorld } from '../../postgres/policies.ts'

/**
 * Tables for calls with their turns, events, spans, reports and costs, for commands to live calls, and for callbacks.
 */
export const calls = `
create table calls (
  organization_id text not null references organizations,
  test boolean not null,
  -- Also the id of the session.
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
  -- Numbers and leg of a call by phone. Null: the call has no phone.
  phone json,
  metadata json not null,
  webhook_tags json not null,
  -- The secrets of the tools (store/sealing/sealed.ts), until the call is over. Null: the tools have no secrets.
  sealed bytea,
  sealed_by text,
  -- No two calls of one process have the same microsecond.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  end_reason text,
  recording_status text,
  recording_duration_ms integer,
  -- The events were deleted for their age, before the call.
  events_removed boolean not null default false,
  -- The serving process that holds the media.
  owner_id text,
  primary key (organization_id, test, id),
  check ((sealed is null) = (sealed_by is null)),
  check ((ended_at is null) = (end_reason is null))
);
create index calls_created on calls (organization_id, test, created_at);
create index calls_of_agent on calls (organization_id, test, agent_id, created_at);
-- Live calls are few, and looked for often.
create index calls_live on calls (organization_id) where ended_at is null;
create index calls_sealed_by on calls (sealed_by) where sealed_by is not null;
-- Recordings that wait to be uploaded are few, and looked for every second.
create index calls_uploading on calls (ended_at) where recording_status = 'uploading';
-- The deletion of calls, events and recordings finds the old calls by their age.
create index calls_ended on calls (ended_at) where ended_at is not null;
create index calls_with_events on calls (ended_at) where ended_at is not null and not events_removed;
create index calls_recorded on calls (ended_at) where recording_status = 'ready';
-- The file of a recording names only the id of its call.
create index calls_id on calls (id);
${ownWorld('calls')}
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
${ownWorld('call_turns')}
create table call_events (
  organization_id text not null,
  test boolean not null,
  call_id uuid not null,
  id uuid not null,
  provider text not null,
  type text not null,
  -- The status of the call after the event.
  status text,
  sip_status_code integer,
  failure_cause text,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  -- Never content.
  payload json not null,
  primary key (organization_id, test, call_id, id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create index call_events_occurred on call_events (organization_id, test, call_id, occurred_at);
${ownWorld('call_events')}
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
${ownWorld('call_spans')}
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
  -- The ids of the endpoints that matched when the call ended: {"report": [], "analysis": []}. Null: no endpoint matched.
  receivers json,
  -- The values of the extraction fields of these endpoints, by the ids of the endpoints.
  endpoint_data json,
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
${ownWorld('call_reports')}
-- Sums of the attempts of a call whose requests are deleted before the call. They are read like attempts.
create table call_costs (
  organization_id text not null,
  test boolean not null,
  call_id uuid not null,
  stage text not null,
  provider text not null,
  model text not null,
  quantities jsonb not null,
  -- Null: the price is unknown, which is not 0.
  cost_micro_usd bigint,
  price_source text,
  key_source text not null,
  -- The start of the first attempt.
  started_at timestamptz not null,
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create index call_costs_of_call on call_costs (organization_id, test, call_id);
${ownWorld('call_costs')}
-- Commands to the processes that hold calls.
create table call_commands (
  organization_id text not null,
  test boolean not null,
  id uuid not null,
  call_id uuid not null,
  -- The serving process that holds the call, and runs the command.
  owner_id text not null,
  command json not null,
  created_at timestamptz not null,
  primary key (id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create index call_commands_of_owner on call_commands (owner_id);
${ownWorld('call_commands')}
create table callbacks (
  organization_id text not null,
  test boolean not null,
  id text not null,
  source_session_id uuid not null,
  created_session_id uuid,
  -- Stays when the agent is deleted.
  agent_id text,
  phone_number_id text,
  to_number text not null,
  from_number text,
  scheduled_at timestamptz not null,
  status text not null,
  reason text,
  instructions text,
  failure_cause text,
  attempted_at timestamptz,
  dispatched_at timestamptz,
  cancelled_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Tries at the scheduled time and later. An attempt that a request asks for is not counted.
  tries integer not null,
  next_try_at timestamptz not null,
  -- The lease of the process that places the call, and the id of this call. If the end of an attempt was not stored, the
  -- callback keeps the lease when it is given back, because the call may have been placed.
  lease_id text,
  leased_until timestamptz,
  primary key (organization_id, test, id),
  foreign key (organization_id, test, source_session_id) references calls on delete cascade,
  check (status <> 'dispatching' or lease_id is not null),
  check ((lease_id is null) = (leased_until is null))
);
create index callbacks_created on callbacks (organization_id, test, created_at, id);
create index callbacks_of_session on callbacks (organization_id, test, source_session_id);
-- Callbacks that are not over are few, and looked for often.
create index callbacks_of_agent on callbacks (organization_id, test, agent_id) where status in ('scheduled', 'dispatching');
create index callbacks_due on callbacks (next_try_at) where status = 'scheduled';
create index callbacks_leased on callbacks (leased_until) where status = 'dispatching';
${ownWorld('callbacks')}`
