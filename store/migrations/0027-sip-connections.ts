import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const sipConnections: Migration = {
  version: 27,
  name: 'SIP connections of organizations',
  sql: `
create table sip_connections (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  name text not null,
  provider text,
  -- null: no calls go out over it.
  outbound_host text,
  outbound_port integer,
  outbound_transport text,
  outbound_username text,
  -- null: no calls come in over it.
  inbound_addresses json,
  -- The same, to look addresses up.
  inbound_ranges inet[],
  inbound_username text,
  -- The passwords, as JSON. Null: there are none.
  secrets_id text,
  sealed bytea,
  sealed_by text,
  -- unverified, ready or failing.
  status text not null,
  -- Looks without an answer since the last one that had one.
  silences integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id)
);
create unique index sip_connections_name on sip_connections (organization_id, test, name);
create index sip_connections_user on sip_connections (inbound_username) where not test;
alter table phone_numbers add column sip_connection_id text;
alter table phone_numbers add column sip_provider_name text;
-- A number is imported once for each connection: nobody can keep the owner of a number from importing it.
create unique index phone_numbers_trunk on phone_numbers (organization_id, test, sip_connection_id, e164)
  where source = 'sip_trunk';
alter table phone_numbers add foreign key (organization_id, test, sip_connection_id) references sip_connections;
${ownWorld('sip_connections')}`,
}
