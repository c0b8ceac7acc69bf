import type { Migration } from './migration.ts'

/** Counts failed registrations separately, because only a successful registration resets them. */
export const registrationRefusals: Migration = {
  version: 48,
  name: 'refused registrations of SIP connections',
  sql: `
alter table sip_connections add column registration_refusals integer not null default 0;`,
}
