import { ownWorld } from '../../postgres/policies.ts'

/** Tables for agents and their tools. */
export const agents = `
create table agents (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  -- The name in the form in which names are compared (store/agents/agents.ts).
  name_key text not null,
  -- json and not jsonb, which changes the order of fields and refuses text with the character U+0000.
  settings json not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Orders agents of the same millisecond.
  position bigint generated always as identity,
  primary key (organization_id, test, id),
  unique (organization_id, test, name_key)
);
${ownWorld('agents')}
create table agent_tools (
  organization_id text not null,
  test boolean not null,
  agent_id text not null,
  id text not null,
  name text not null,
  -- Everything that an answer shows.
  shown json not null,
  -- The secrets of the tool (store/sealing/sealed.ts). Null: the tool has no secrets. New secrets get a new id.
  secrets_id text,
  sealed bytea,
  -- Names the master key.
  sealed_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Orders tools of the same millisecond.
  position bigint generated always as identity,
  primary key (organization_id, test, agent_id, id),
  unique (organization_id, test, agent_id, name),
  foreign key (organization_id, test, agent_id) references agents on delete cascade,
  check ((sealed is null) = (sealed_by is null) and (sealed is null) = (secrets_id is null))
);
create index agent_tools_sealed_by on agent_tools (sealed_by) where sealed_by is not null;
${ownWorld('agent_tools')}`
