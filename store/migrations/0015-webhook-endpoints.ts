import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const webhookEndpoints: Migration = {
  version: 15,
  name: 'webhook endpoints, and the webhook secrets of organizations',
  sql: `
-- Live and test keys share it. It is made when it is first needed, because a migration has no master key.
create table webhook_secrets (
  organization_id text primary key references organizations,
  -- A new one with each secret.
  id text not null,
  -- The secret, and the one before it for as long as that signs too (sealed.ts).
  sealed bytea not null,
  -- Names the master key.
  sealed_by text not null,
  created_at timestamptz not null
);
create index webhook_secrets_sealed_by on webhook_secrets (sealed_by);

create table webhook_endpoints (
  organization_id text not null references organizations,
  test boolean not null,
  id uuid not null,
  name text not null,
  url text not null,
  -- Names of event types, and ids of agents: jsonb, because statements look for one of them.
  events jsonb not null,
  all_agents boolean not null,
  agent_ids jsonb not null,
  -- json and not jsonb, as in agents.
  filter_tags json not null,
  headers json not null,
  -- The names of headers with secret values, as they were sent.
  auth_headers json not null,
  -- Null: the default.
  timeout_ms integer,
  signing_secret_source text not null check (signing_secret_source in ('workspace', 'custom')),
  extraction_fields json not null,
  -- The values of secret headers and the custom secrets (sealed.ts), null where it has none. The id is a new one whenever they are.
  secrets_id text,
  sealed bytea,
  sealed_by text,
  -- The deprecated field of an agent that this endpoint is.
  legacy_agent_id text,
  legacy_field text,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('manual', 'gone', 'failing', 'agents_deleted')),
  -- The first failure since the last success.
  failing_since timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Orders endpoints of the same millisecond.
  position bigint generated always as identity,
  primary key (organization_id, test, id),
  -- Also finds the endpoints of a call: those of its agent, and those that are not of an agent.
  unique (organization_id, test, legacy_agent_id, legacy_field),
  check ((sealed is null) = (sealed_by is null) and (sealed is null) = (secrets_id is null)),
  check ((legacy_agent_id is null) = (legacy_field is null)),
  check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_endpoints_sealed_by on webhook_endpoints (sealed_by) where sealed_by is not null;

alter table webhook_secrets enable row level security;
alter table webhook_secrets force row level security;
create policy own_organization on webhook_secrets
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));
${ownWorld('webhook_endpoints')}`,
}
