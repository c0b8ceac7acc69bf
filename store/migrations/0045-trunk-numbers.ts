import type { Migration } from './migration.ts'

export const trunkNumbers: Migration = {
  version: 45,
  name: 'imported phone numbers are found by their end',
  sql: `
-- Trunks name the dialled number in many forms, whose ends are the same. Each call that comes in asks for it.
create index phone_numbers_ends on phone_numbers (right(e164, 6)) where source = 'sip_trunk' and not test;
`,
}
