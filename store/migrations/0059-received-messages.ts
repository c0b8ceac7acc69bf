import type { Migration } from './migration.ts'

/** Lets the table of sent messages hold received messages too. Older received messages were not stored. */
export const receivedMessages: Migration = {
  version: 59,
  name: 'received messages',
  sql: `
-- The program names the directions. A received message has the status delivered.
alter table rmsg_messages add column direction text not null default 'outbound';`,
}
