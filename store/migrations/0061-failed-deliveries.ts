import type { Migration } from './migration.ts'

/**
 * Adds an index to find an endpoint's failed deliveries by time. Most deliveries succeed, so the index is small, and a
 * search does not read the other deliveries of 30 days.
 */
export const failedDeliveries: Migration = {
  version: 61,
  name: 'an index for failed deliveries',
  indexes: [
    {
      name: 'webhook_deliveries_failed',
      table: 'webhook_deliveries',
      of: "(organization_id, test, endpoint_id, created_at, id) where status in ('failed', 'expired', 'cancelled')",
    },
  ],
}
