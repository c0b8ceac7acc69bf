import { operatorOnly, ownOrganization } from '../postgres/policies.ts'
import type { Migration } from './migration.ts'

/** Adds the tables for signing in to the console. */
export const signIn: Migration = {
  version: 53,
  name: 'signing in to the console',
  sql: `
alter table users add column name text;
-- Null in rows of API tokens, and in rows of an older version.
alter table user_credentials add column method text;
alter table user_credentials add column ip text;
alter table user_credentials add column user_agent text;
-- A session keeps this time when it changes to another organization. Null: created_at.
alter table user_credentials add column signed_in_at timestamptz;
alter table user_credentials add column last_seen_at timestamptz;
-- The ways in which a person may prove to be this person.
create table identities (
  id text primary key,
  user_id text not null references users on delete cascade,
  kind text not null check (kind in ('password', 'oidc', 'passkey')),
  -- Of a password: a PHC string, whose prefix names the algorithm.
  password_hash text,
  -- Of OIDC: the id of the provider in the settings, and the pair that names the person there.
  provider text,
  issuer text,
  subject text,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  check ((kind = 'password') = (password_hash is not null)),
  check ((kind = 'oidc') = (issuer is not null and subject is not null and provider is not null))
);
create unique index identities_password on identities (user_id) where kind = 'password';
create unique index identities_subject on identities (issuer, subject) where kind = 'oidc';
create index identities_user on identities (user_id);
${operatorOnly('identities')}
create table password_resets (
  -- SHA-256 of the token.
  digest bytea primary key check (length(digest) = 32),
  user_id text not null references users on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create index password_resets_user on password_resets (user_id, created_at);
create index password_resets_expiry on password_resets (expires_at);
${operatorOnly('password_resets')}
-- Wrong passwords by subject: an HMAC of an e-mail address or of a network address, so neither is stored.
create table sign_in_failures (
  subject text primary key,
  failures integer not null check (failures >= 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- No attempt is allowed before this time.
  blocked_until timestamptz not null
);
create index sign_in_failures_age on sign_in_failures (last_at);
${operatorOnly('sign_in_failures')}
create table invitations (
  organization_id text not null references organizations,
  id text not null,
  -- In lower case.
  email text not null,
  role text not null,
  -- The name for a new person.
  name text,
  -- SHA-256 of the token.
  digest bytea not null check (length(digest) = 32),
  invited_by_type text not null check (invited_by_type in ('user', 'api_key', 'operator')),
  invited_by_id text,
  invited_by_name text,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  -- The time at which the mail server took the last mail.
  sent_at timestamptz,
  primary key (organization_id, id)
);
create unique index invitations_digest on invitations (digest);
create unique index invitations_email on invitations (organization_id, email);
create index invitations_expiry on invitations (expires_at);
${ownOrganization('invitations')}`,
}
