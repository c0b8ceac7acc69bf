import type { Migration } from './migration.ts'

/** Failed registrations are counted apart: only a registration that the trunk takes ends them. */
export const registrationRefusals: Migration = {
  version: 48,
  name: 'refused registrations of SIP connections',
  sql: `
alter table sip_connections add column registration_refusals integer not null default 0;`,
}
