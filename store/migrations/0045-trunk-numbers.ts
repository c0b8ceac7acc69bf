import type { Migration } from './migration.ts'

/** Trunks name the dialled number in many forms, whose ends are the same. Each call that comes in asks for it. */
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
