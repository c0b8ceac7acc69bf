import type { Migration } from './migration.ts'

export const agents: Migration = {
  version: 9,
  name: 'agents, their tools, and settings of organizations',
  sql: `
create table agents (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  -- The name as names are compared (store/agents/agents.ts).
  name_key text not null,
  -- Not jsonb, which changes the order of fields and refuses text with the character U+0000.
  settings json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Orders agents of the same millisecond.
  position bigint generated always as identity,
  primary key (organization_id, test, id),
  unique (organization_id, test, name_key)
);

create table agent_tools (
  organization_id text not null,
  test boolean not null,
  agent_id text not null,
  id text not null,
  name text not null,
  -- Everything that an answer shows.
  shown json not null,
  -- The secrets of the tool (sealed.ts), null where it has none. The id is a new one whenever they are.
  secrets_id text,
  sealed bytea,
  -- Names the master key.
  sealed_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  position bigint generated always as identity,
  primary key (organization_id, test, agent_id, id),
  unique (organization_id, test, agent_id, name),
  foreign key (organization_id, test, agent_id) references agents on delete cascade,
  check ((sealed is null) = (sealed_by is null) and (sealed is null) = (secrets_id is null))
);
create index agent_tools_sealed_by on agent_tools (sealed_by) where sealed_by is not null;

-- Rows belong to a world too: those of test keys and those of live keys do not see each other.
alter table agents enable row level security;
alter table agents force row level security;
create policy own_world on agents
  using ((select current_setting('app.organization', true)) in (organization_id, '*')
    and (select current_setting('app.world', true)) in (case when test then 'test' else 'live' end, '*'));
alter table agent_tools enable row level security;
alter table agent_tools force row level security;
create policy own_world on agent_tools
  using ((select current_setting('app.organization', true)) in (organization_id, '*')
    and (select current_setting('app.world', true)) in (case when test then 'test' else 'live' end, '*'));

alter table organizations
  -- Null: no limit.
  add column max_sessions integer check (max_sessions > 0),
  add column rmsg_legacy_inventory boolean not null default false,
  add column rmsg_backend text not null default 'default' check (rmsg_backend in ('default', 'receive_only')),
  add column admin_organization boolean not null default false;
create unique index organizations_one_admin on organizations (admin_organization) where admin_organization;
`,
}
