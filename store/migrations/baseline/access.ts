import { operatorOnly, ownOrganization } from '../../postgres/policies.ts'

/** Tables for organizations, their API keys and users, and their provider keys and used tokens. */
export const access = `
create table organizations (
  id text primary key,
  name text not null,
  is_disabled boolean not null default false,
  admin_organization boolean not null default false,
  -- Null: no limit.
  max_concurrency integer check (max_concurrency > 0),
  -- Null: no limit.
  max_sessions integer check (max_sessions > 0),
  credit_micro_usd bigint not null default 0,
  sms_enabled boolean not null default false,
  rmsg_enabled boolean not null default false,
  rmsg_backend text not null default 'default' check (rmsg_backend in ('default', 'receive_only')),
  -- The organization sees the whole inventory of rich-message numbers, until it has had a live number in its pool.
  rmsg_legacy_inventory boolean not null default false,
  rmsg_legacy_ended boolean not null default false,
  recording_enabled boolean not null default false,
  created_at timestamptz not null
-- Every settled batch changes the credit. Free space on the page keeps these updates out of the index.
) with (fillfactor = 50);
create unique index organizations_one_admin on organizations (admin_organization) where admin_organization;
${ownOrganization('organizations', 'id')}
create table api_keys (
  organization_id text not null references organizations,
  id text not null,
  name text not null,
  -- The part of the key that may be shown.
  public_id text not null,
  -- The first 8 bytes of the digest in hex. The lookup finds the row, and the digest proves the key.
  lookup text not null,
  digest bytea not null check (length(digest) = 32),
  -- The secret before the last rotation, which works until previous_until. Null: the rotation ended it.
  previous_lookup text,
  previous_digest bytea check (length(previous_digest) = 32),
  previous_until timestamptz,
  scopes jsonb not null,
  policy jsonb not null,
  test boolean not null,
  created_at timestamptz not null,
  rotated_at timestamptz,
  revoked_at timestamptz,
  expires_at timestamptz,
  last_used_at timestamptz,
  primary key (organization_id, id),
  check ((previous_lookup is null) = (previous_digest is null) and (previous_lookup is null) = (previous_until is null))
);
create index api_keys_lookup on api_keys (lookup);
create index api_keys_previous on api_keys (previous_lookup) where previous_lookup is not null;
${ownOrganization('api_keys')}
-- A used ephemeral token is remembered until it expires, so that it works only once.
create table used_tokens (
  organization_id text not null,
  token_id text not null,
  expires_at timestamptz not null,
  primary key (organization_id, token_id)
);
create index used_tokens_expiry on used_tokens (expires_at);
${ownOrganization('used_tokens')}
create table provider_keys (
  organization_id text not null references organizations,
  provider text not null,
  -- Changes with the key, because the health of the old key is stored under the old id.
  id text not null,
  -- The only column that holds the key (store/sealing/sealed.ts).
  sealed bytea not null,
  -- Names the master key.
  sealed_by text not null,
  created_at timestamptz not null,
  primary key (organization_id, provider)
);
create index provider_keys_sealed_by on provider_keys (sealed_by);
${ownOrganization('provider_keys')}
-- A user may have roles in several organizations, so only the operator sees this table.
create table users (
  id text primary key,
  -- In lower case.
  email text not null unique,
  created_at timestamptz not null
);
${operatorOnly('users')}
create table user_roles (
  organization_id text not null references organizations,
  user_id text not null references users,
  role text not null check (role in ('member', 'admin')),
  created_at timestamptz not null,
  primary key (organization_id, user_id)
);
${ownOrganization('user_roles')}
-- Tokens and sessions of users.
create table user_credentials (
  organization_id text not null,
  user_id text not null,
  -- As in api_keys. The prefix of the secret says its kind.
  lookup text not null,
  digest bytea not null check (length(digest) = 32),
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (organization_id, digest),
  -- The credentials end with the role.
  foreign key (organization_id, user_id) references user_roles on delete cascade
);
create index user_credentials_lookup on user_credentials (lookup);
create index user_credentials_user on user_credentials (organization_id, user_id);
create index user_credentials_expired on user_credentials (expires_at);
${ownOrganization('user_credentials')}
-- The live and the test world of an organization share the verification of its business.
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
  -- The automatic review ends then. Null: the operator reviews the business.
  review_due_at timestamptz,
  reviewed_at timestamptz,
  rejection_reason text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
${ownOrganization('business_verifications')}`
