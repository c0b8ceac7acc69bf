import type { Migration } from './migration.ts'

export const legCharges: Migration = {
  version: 26,
  name: 'debits of the legs of calls',
  sql: `
-- The leg has ended, and its whole cost is debited.
alter table call_legs add column is_settled boolean not null default false;
-- Few, and looked for often.
create index call_legs_charges on call_legs (answered_at)
  where micro_usd_per_minute > 0 and answered_at is not null and not is_settled and not test;
`,
}
