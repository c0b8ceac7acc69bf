import type { Migration } from './migration.ts'

/**
 * Adds the time at which the database has stored a webhook event. `created_at` is a process's time, and clocks differ,
 * so streams of events cannot be ordered by it. Older rows have no such time, because a value would rewrite the table.
 */
export const eventOrder: Migration = {
  version: 51,
  name: 'the order of webhook events',
  sql: `
alter table webhook_events add column stored_at timestamptz;
-- Whole milliseconds, because a position in a stream has them. A default in the statement before would rewrite the
-- table.
alter table webhook_events alter column stored_at set default date_trunc('milliseconds', clock_timestamp());`,
}
