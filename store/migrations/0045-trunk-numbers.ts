import type { Migration } from './migration.ts'

/** Trunks write the dialled number in many forms with the same end. Each incoming call searches by this end. */
export const trunkNumbers: Migration = {
  version: 45,
  name: 'imported phone numbers are found by their end',
  indexes: [
    {
      name: 'phone_numbers_ends',
      table: 'phone_numbers',
      of: `(right(e164, 6)) where source = 'sip_trunk' and not test`,
    },
  ],
}
