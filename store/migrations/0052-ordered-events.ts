import type { Migration } from './migration.ts'

/** Finds the newest webhook events of a tenant. A row without `stored_at` is older than this schema. */
export const orderedEvents: Migration = {
  version: 52,
  name: 'an index for the order of webhook events',
  indexes: [
    {
      name: 'webhook_events_stored',
      table: 'webhook_events',
      of: '(organization_id, test, (coalesce(stored_at, created_at)), id)',
    },
  ],
}
