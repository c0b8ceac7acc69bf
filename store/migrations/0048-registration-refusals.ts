import type { Migration } from './migration.ts'

/** Silences of OPTIONS and refusals of REGISTER are counted apart: a trunk may answer the one and refuse the other. */
export const registrationRefusals: Migration = {
  version: 48,
  name: 'refused registrations of SIP connections',
  sql: `
alter table sip_connections add column registration_refusals integer not null default 0;`,
}
