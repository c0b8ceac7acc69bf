import type { Migration } from './migration.ts'

export const organizations: Migration = {
  version: 1,
  name: 'organizations and API keys',
  sql: `
create table organizations (
  id text primary key,
  name text not null,
  -- Null: no limit.
  max_concurrency integer check (max_concurrency > 0),
  credit_micro_usd bigint not null default 0,
  sms_enabled boolean not null default false,
  rmsg_enabled boolean not null default false,
  recording_enabled boolean not null default false,
  created_at timestamptz not null
-- Every settled batch moves the credit: room on the page keeps those updates out of the index.
) with (fillfactor = 50);

create table api_keys (
  organization_id text not null references organizations,
  id text not null,
  name text not null,
  -- The part of the key that may be shown.
  public_id text not null,
  -- The first 8 bytes of the digest in hex: found by this, proved by the digest.
  lookup text not null,
  digest bytea not null check (length(digest) = 32),
  scopes jsonb not null,
  policy jsonb not null,
  test boolean not null,
  created_at timestamptz not null,
  rotated_at timestamptz,
  revoked_at timestamptz,
  expires_at timestamptz,
  last_used_at timestamptz,
  primary key (organization_id, id)
);
create index api_keys_lookup on api_keys (lookup);

-- The setting is read once a statement, not once a row, because of the sub-select. Unset, it is null and shows nothing.
alter table organizations enable row level security;
alter table organizations force row level security;
create policy own_organization on organizations
  using ((select current_setting('app.organization', true)) in (id, '*'));
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy own_organization on api_keys
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
