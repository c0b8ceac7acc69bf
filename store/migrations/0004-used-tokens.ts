import type { Migration } from './migration.ts'

export const usedTokens: Migration = {
  version: 4,
  name: 'used ephemeral tokens',
  sql: `
-- A token that was used is remembered for as long as it would be good.
create table used_tokens (
  organization_id text not null,
  token_id text not null,
  expires_at timestamptz not null,
  primary key (organization_id, token_id)
);
create index used_tokens_expiry on used_tokens (expires_at);

alter table used_tokens enable row level security;
alter table used_tokens force row level security;
create policy own_organization on used_tokens
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
