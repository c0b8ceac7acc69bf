import type { Migration } from './migration.ts'

/** A trunk's addressing for calls, and if it needs a registration. */
export const trunkAddressing: Migration = {
  version: 47,
  name: 'identity and registration of SIP connections',
  sql: `
alter table sip_connections add column outbound_user_phone boolean not null default false;
-- from, preferred or asserted.
alter table sip_connections add column outbound_identity text not null default 'from';
alter table sip_connections add column outbound_register boolean not null default false;`,
}
