import type { Migration } from './migration.ts'

/** Adds indexes to list conversations by their last message, and to find the last message of each conversation. */
export const newestMessages: Migration = {
  version: 60,
  name: 'indexes for the newest messages',
  indexes: [
    { name: 'rmsg_messages_newest', table: 'rmsg_messages', of: '(organization_id, test, created_at, id)' },
    {
      name: 'rmsg_messages_newest_of_conversation',
      table: 'rmsg_messages',
      of: '(organization_id, test, conversation_id, created_at, id)',
    },
  ],
}
