import { ownWorld } from '../postgres/policies.ts'
import type { Migration } from './migration.ts'

/**
 * Adds the versions of agents. An agent from before this step gets its first version when it is next changed. The
 * previous version of the server changes agents without a new version; the next version then shows its changes too.
 */
export const agentVersions: Migration = {
  version: 56,
  name: 'versions of agents',
  sql: `
alter table agents add column version integer not null default 1;
-- The version with which the call's session started. Null: no stored agent, or a call from before this step.
alter table calls add column if not exists agent_version integer;
create table agent_versions (
  organization_id text not null,
  test boolean not null,
  agent_id text not null,
  version integer not null check (version > 0),
  -- json and not jsonb, as in agents.
  settings json not null,
  tools json not null,
  -- The size of settings and tools. Old versions are deleted by it.
  bytes integer not null,
  changed json not null,
  restored_from integer,
  -- Null: the state from before versions were kept.
  created_by_type text check (created_by_type in ('api_key', 'user')),
  created_by_id text,
  created_by_name text,
  created_at timestamptz not null,
  primary key (organization_id, test, agent_id, version),
  foreign key (organization_id, test, agent_id) references agents on delete cascade
);
${ownWorld('agent_versions')}`,
}
