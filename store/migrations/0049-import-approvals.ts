import type { Migration } from './migration.ts'

/** Imported numbers that wait for the operator. Numbers from before this step need no approval. */
export const importApprovals: Migration = {
  version: 49,
  name: 'approvals of imported numbers',
  sql: 'alter table phone_numbers add column awaits_approval boolean not null default false;',
}
