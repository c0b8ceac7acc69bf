import type { Migration } from './migration.ts'

export const unknownAttempts: Migration = {
  version: 29,
  name: 'attempts of callbacks whose end nobody has stored',
  sql: `
-- A callback that is given back keeps the lease of such an attempt: it is the id of the call that may have been placed.
alter table callbacks drop constraint callbacks_check;
alter table callbacks add check (status <> 'dispatching' or lease_id is not null);
`,
}
