import type { Migration } from './migration.ts'

export const keptAnswers: Migration = {
  version: 21,
  name: 'answers that are repeated',
  sql: `
-- Null: the answers of the operation are not kept, or the request has none yet.
alter table idempotency_keys add column answer_status integer, add column answer_body text;
`,
}
