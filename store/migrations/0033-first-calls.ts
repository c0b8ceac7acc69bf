import type { Migration } from './migration.ts'

export const firstCalls: Migration = {
  version: 33,
  name: 'the first calls to phone numbers',
  sql: `
-- The first call to the number came then. Null: none has come, or none since calls are noted.
alter table phone_numbers add column first_called_at timestamptz;
`,
}
