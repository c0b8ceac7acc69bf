import type { Migration } from './migration.ts'

export const callbacks: Migration = {
  version: 13,
  name: 'scheduled callbacks',
  sql: `
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
  -- Attempts at its time and later, as opposed to those that a request asked for.
  tries integer not null,
  next_try_at timestamptz not null,
  -- Of the process that places the call.
  lease_id text,
  leased_until timestamptz,
  primary key (organization_id, test, id),
  foreign key (organization_id, test, source_session_id) references calls on delete cascade,
  check ((status = 'dispatching') = (lease_id is not null)),
  check ((lease_id is null) = (leased_until is null))
);
create index callbacks_created on callbacks (organization_id, test, created_at, id);
create index callbacks_of_session on callbacks (organization_id, test, source_session_id);
-- Those that are not over: few, and looked for often.
create index callbacks_of_agent on callbacks (organization_id, test, agent_id) where status in ('scheduled', 'dispatching');
create index callbacks_due on callbacks (next_try_at) where status = 'scheduled';
create index callbacks_leased on callbacks (leased_until) where status = 'dispatching';
alter table callbacks enable row level security;
alter table callbacks force row level security;
create policy own_world on callbacks
  using ((select current_setting('app.organization', true)) in (organization_id, '*')
    and (select current_setting('app.world', true)) in (case when test then 'test' else 'live' end, '*'));
`,
}
