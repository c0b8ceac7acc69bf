import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const smsRegistrations: Migration = {
  version: 38,
  name: 'registrations for text messages in the USA',
  sql: `
create table sms_registrations (
  organization_id text not null references organizations,
  test boolean not null,
  brand_profile json,
  brand_status text not null default 'draft',
  identity_status text,
  brand_review_errors json not null default '[]',
  brand_submitted_at timestamptz,
  brand_carrier_id text,
  -- The carrier has another profile of the brand.
  brand_is_changed boolean not null default true,
  campaign_profile json,
  campaign_review_errors json not null default '[]',
  -- Until then a step at the carrier is under way.
  claimed_until timestamptz,
  primary key (organization_id, test)
);
${ownWorld('sms_registrations')}
-- Campaigns at the carrier. Each was paid for, so none is removed.
create table sms_campaigns (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  status text not null,
  review_errors json not null,
  submitted_at timestamptz not null,
  -- Tells which of two is newer.
  number bigint generated always as identity,
  primary key (organization_id, test, id)
);
${ownWorld('sms_campaigns')}
-- The campaign of the operator that the numbers of all organizations may use. There is one at most.
create table sms_shared_campaign (
  is_only boolean primary key default true check (is_only),
  label text not null,
  campaign_id text not null,
  status text not null
);
alter table phone_numbers add column takes_sms boolean not null default false;
-- What they can do was not stored when they were bought. Nearly all numbers that carriers sell in the USA take text messages.
update phone_numbers set takes_sms = true where source = 'managed';
alter table phone_numbers add column sms_campaign_id text;
alter table phone_numbers add column sms_assignment_status text;
alter table phone_numbers add column sms_assigned_to text;
alter table phone_numbers add column sms_assignment_updated_at timestamptz;
`,
}
