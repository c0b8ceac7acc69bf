import type { Migration } from './migration.ts'

export const businessVerifications: Migration = {
  version: 25,
  name: 'verification of the business of organizations',
  sql: `
-- The live and the test world of an organization share it.
create table business_verifications (
  organization_id text primary key references organizations,
  id text not null,
  status text not null check (status in ('draft', 'submitted', 'approved', 'rejected', 'revoked')),
  -- json and not jsonb, as in agents.
  business_profile json,
  authorized_representative json,
  attestation_accepted boolean not null,
  attested_at timestamptz,
  submitted_by_api_key_id text,
  submitted_at timestamptz,
  -- The automatic review ends then. Null: the operator reviews it.
  review_due_at timestamptz,
  reviewed_at timestamptz,
  rejection_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- The organization of a new installation starts approved (bootstrap.ts), and those of older ones are as if it had.
select set_config('app.organization', '*', true);
insert into business_verifications (organization_id, id, status, attestation_accepted, created_at, updated_at)
select id, 'kyb_' || substr(id, 5), 'approved', false, now(), now() from organizations where name = 'local'
order by created_at limit 1;

alter table business_verifications enable row level security;
alter table business_verifications force row level security;
create policy own_organization on business_verifications
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
