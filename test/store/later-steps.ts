/**
 * Migrations for tests of upgrades, such as a later version could add: new columns, indexes on a table with rows, and a
 * new table. They follow our newest migration.
 */
import { migrations } from '../../store/migrations/list.ts'
import { schemaVersion } from '../../store/migrations/migrate.ts'
import type { Migration } from '../../store/migrations/migration.ts'
import { ownWorld } from '../../store/postgres/policies.ts'

/** This migration locks `requests` and then `calls`. */
export const laterColumns: Migration = {
  version: schemaVersion + 1,
  name: 'columns of a later version',
  sql: `
alter table requests add column later_note text not null default 'empty';
alter table calls add column later_note text;`,
}

export const laterIndexes = {
  version: schemaVersion + 2,
  name: 'indexes of a later version',
  indexes: [
    { name: 'calls_later', table: 'calls', of: '(ended_at, id) where ended_at is not null' },
    { name: 'calls_later_notes', table: 'calls', of: '(later_note)' },
  ],
} satisfies Migration

export const laterTable: Migration = {
  version: schemaVersion + 3,
  name: 'a table of a later version',
  sql: `
create table later_notes (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  primary key (organization_id, test, id)
);
${ownWorld('later_notes')}`,
}

/** Our migrations, followed by the later migrations above. */
export const laterSteps: readonly Migration[] = [...migrations, laterColumns, laterIndexes, laterTable]
export const laterVersion = schemaVersion + 3
