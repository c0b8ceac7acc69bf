import type { Migration } from './migration.ts'

/** Lets each process see the health of models in all processes. */
export const providerHealth: Migration = {
  version: 58,
  name: 'the health of providers in all processes',
  sql: `
-- One row a process. A row that is not written again is from a process that has ended.
create table provider_health (
  process_id text primary key,
  models json not null,
  written_at timestamptz not null
);`,
}
