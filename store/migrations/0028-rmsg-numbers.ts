import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const rmsgNumbers: Migration = {
  version: 28,
  name: 'the inventory of rich-message numbers',
  sql: `
create table rmsg_numbers (
  -- Numbers of test keys are simulated. No live key sees one.
  test boolean not null,
  id uuid not null,
  e164 text not null,
  -- The name of the number at the provider.
  provider_identity text not null,
  -- The organization whose pool it is in. Null: it is in no pool.
  organization_id text references organizations,
  -- The agent that answers on it. Null: it is free.
  agent_id text,
  status text not null check (status in ('active', 'paused', 'unavailable')),
  sms_status text not null check (sms_status in ('not_configured', 'pending', 'ready', 'failed')),
  sms_ready_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (test, id),
  -- A number of an agent that is deleted is free again.
  foreign key (organization_id, test, agent_id) references agents on delete set null (agent_id),
  check (agent_id is null or organization_id is not null)
);
create unique index rmsg_numbers_e164 on rmsg_numbers (test, e164);
create unique index rmsg_numbers_identity on rmsg_numbers (test, provider_identity);
create unique index rmsg_numbers_agent on rmsg_numbers (organization_id, test, agent_id) where agent_id is not null;
create index rmsg_numbers_pool on rmsg_numbers (organization_id, test, created_at);
${ownWorld('rmsg_numbers')}`,
}
