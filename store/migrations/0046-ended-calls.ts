import type { Migration } from './migration.ts'

/** Finds calls due for deletion by age, and a recording file's call by its id alone. */
export const endedCalls: Migration = {
  version: 46,
  name: 'indexes of ended calls',
  indexes: [
    { name: 'calls_ended', table: 'calls', of: '(ended_at) where ended_at is not null' },
    { name: 'calls_with_events', table: 'calls', of: '(ended_at) where ended_at is not null and not events_removed' },
    { name: 'calls_id', table: 'calls', of: '(id)' },
    { name: 'calls_recorded', table: 'calls', of: `(ended_at) where recording_status = 'ready'` },
  ],
}
