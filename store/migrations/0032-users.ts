import type { Migration } from './migration.ts'

export const users: Migration = {
  version: 32,
  name: 'users, their roles, tokens and sessions',
  sql: `
-- A user may have roles in several organizations, so only the operator sees this table.
create table users (
  id text primary key,
  -- In lower case.
  email text not null unique,
  created_at timestamptz not null
);
create table user_roles (
  organization_id text not null references organizations,
  user_id text not null references users,
  role text not null check (role in ('member', 'admin')),
  created_at timestamptz not null,
  primary key (organization_id, user_id)
);
create table user_credentials (
  organization_id text not null,
  user_id text not null,
  -- As in api_keys. The prefix of the secret says its kind.
  lookup text not null,
  digest bytea not null check (length(digest) = 32),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, digest),
  -- They end with the role.
  foreign key (organization_id, user_id) references user_roles on delete cascade
);
create index user_credentials_lookup on user_credentials (lookup);
create index user_credentials_user on user_credentials (organization_id, user_id);
create index user_credentials_expired on user_credentials (expires_at);

alter table users enable row level security;
alter table users force row level security;
create policy operator_only on users using ((select current_setting('app.organization', true)) = '*');
alter table user_roles enable row level security;
alter table user_roles force row level security;
create policy own_organization on user_roles
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
alter table user_credentials enable row level security;
alter table user_credentials force row level security;
create policy own_organization on user_credentials
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
`,
}
