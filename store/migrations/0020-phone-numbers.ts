import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const phoneNumbers: Migration = {
  version: 20,
  name: 'phone numbers of organizations',
  sql: `
create table phone_numbers (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  e164 text not null,
  -- managed: of the carrier; sip_trunk: of a SIP connection.
  source text not null,
  direction text not null,
  agent_id text,
  label text,
  -- json and not jsonb, as in agents.
  dispatch_metadata_template json,
  suspended_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id)
);
-- A number of the carrier is one organization's. In the test world each organization may have it.
create unique index phone_numbers_managed on phone_numbers (e164) where source = 'managed' and not test;
create unique index phone_numbers_managed_test on phone_numbers (organization_id, e164) where source = 'managed' and test;
${ownWorld('phone_numbers')}`,
}
