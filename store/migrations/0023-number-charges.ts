import type { Migration } from './migration.ts'

export const numberCharges: Migration = {
  version: 23,
  name: 'monthly charges of phone numbers',
  sql: `
-- The first charge that could not be paid.
alter table phone_numbers add column overdue_since timestamptz;
create index phone_numbers_charges on phone_numbers (next_charge_at) where next_charge_at is not null;
`,
}
