import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const rmsgSubscriptions: Migration = {
  version: 35,
  name: 'subscriptions to the events of rich messages',
  sql: `
create table rmsg_subscriptions (
  organization_id text not null references organizations,
  test boolean not null,
  id uuid not null,
  url text not null,
  -- SHA-256 of the address as URLs are compared. The address itself can be longer than an index takes.
  url_digest bytea not null,
  -- json and not jsonb, as in agents.
  tags json not null,
  -- The custom secret (sealed.ts), null where that of the organization signs. The id is a new one whenever the secret is.
  secrets_id text,
  sealed bytea,
  sealed_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id),
  check ((sealed is null) = (sealed_by is null) and (sealed is null) = (secrets_id is null))
);
create unique index rmsg_subscriptions_url on rmsg_subscriptions (organization_id, test, url_digest);
create index rmsg_subscriptions_sealed_by on rmsg_subscriptions (sealed_by) where sealed_by is not null;
${ownWorld('rmsg_subscriptions')}`,
}
