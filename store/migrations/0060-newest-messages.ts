import type { Migration } from './migration.ts'

/**
 * Adds indexes to list conversations by their last message, to find each conversation's last message and one person's
 * messages, and to find the organization that sent last.
 */
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
    {
      name: 'rmsg_messages_newest_with_person',
      table: 'rmsg_messages',
      of: '(organization_id, test, remote_number, created_at, id)',
    },
    // A search for a sent message must not read all messages from a person without an answer.
    {
      name: 'rmsg_messages_sent_in_conversation',
      table: 'rmsg_messages',
      of: "(conversation_id, created_at) where direction = 'outbound'",
    },
  ],
}
