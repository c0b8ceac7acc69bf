import type { Migration } from './migration.ts'

export const usage: Migration = {
  version: 34,
  name: 'usage by time',
  sql: `
-- The world of the key, also where the key is the number of a call that came in. Null in rows of before: their key says it.
alter table requests add column test boolean;
create index call_legs_answered on call_legs (organization_id, test, answered_at) where answered_at is not null;
`,
}
