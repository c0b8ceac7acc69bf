import type { Migration } from './migration.ts'

/** Adds what pages about calls show: the results of tool calls. Older turns have no results. */
export const callPages: Migration = {
  version: 55,
  name: 'the results of tool calls',
  sql: `
-- A list of the results of the turn's tool calls, in their order. They are content, as the turn is, and are deleted with it.
alter table call_turns add column tool_results json;`,
}
