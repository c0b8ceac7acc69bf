import type { Migration } from './migration.ts'

export const messageStates: Migration = {
  version: 41,
  name: 'states of rich-message numbers and of text-message registrations that outlive a failure',
  sql: `
-- The operator had paused the number when the provider lost it.
alter table rmsg_numbers add column was_paused boolean not null default false;
`,
}
