import type { Migration } from './migration.ts'

export const legDialogs: Migration = {
  version: 40,
  name: 'what ends the legs of a dead process',
  sql: `
-- What the line needs to end the leg after the death of its process. Null: the leg is over, or the line needs nothing.
alter table call_legs add column dialog json check (octet_length(dialog::text) <= 16384);
`,
}
