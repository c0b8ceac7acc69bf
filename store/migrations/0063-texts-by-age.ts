import type { Migration } from './migration.ts'

/** Adds an index to find old messages with a text, because their texts are deleted by age. */
export const textsByAge: Migration = {
  version: 63,
  name: 'an index for the age of texts',
  indexes: [{ name: 'rmsg_messages_texts', table: 'rmsg_messages', of: '(created_at) where text is not null' }],
}
