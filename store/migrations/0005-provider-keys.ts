import type { Migration } from './migration.ts'

export const providerKeys: Migration = {
  version: 5,
  name: 'provider keys of organizations',
  sql: `
create table provider_keys (
  organization_id text not null references organizations,
  provider text not null,
  -- A new one whenever the key is: what is remembered of the old one names it.
  id text not null,
  -- The only column that holds the key (sealed.ts).
  sealed bytea not null,
  -- Names the master key.
  sealed_by text not null,
  created_at timestamptz not null,
  primary key (organization_id, provider)
);
create index provider_keys_sealed_by on provider_keys (sealed_by);

alter table provider_keys enable row level security;
alter table provider_keys force row level security;
create policy own_organization on provider_keys
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
