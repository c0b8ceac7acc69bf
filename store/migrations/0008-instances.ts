import type { Migration } from './migration.ts'

export const instances: Migration = {
  version: 8,
  name: 'where an instance counts its leases',
  sql: `
-- An instance that is alone counts in memory: one that starts waits until this is false for every other (store/sharing/limits.ts).
alter table instances add column counts_in_memory boolean not null default false;
`,
}
