import type { Migration } from './migration.ts'

export const callCommands: Migration = {
  version: 11,
  name: 'commands to the processes that hold calls',
  sql: `
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
alter table call_commands enable row level security;
alter table call_commands force row level security;
create policy own_world on call_commands
  using ((select current_setting('app.organization', true)) in (organization_id, '*')
    and (select current_setting('app.world', true)) in (case when test then 'test' else 'live' end, '*'));
`,
}
