import type { Migration } from './migration.ts'

export const numberOrders: Migration = {
  version: 22,
  name: 'orders and prices of phone numbers',
  sql: `
alter table phone_numbers
  -- pending, done or failed.
  add column order_status text not null default 'done',
  add column order_id text,
  -- The id of the number at the carrier.
  add column resource_id text,
  -- A pending order is looked at from then on.
  add column look_at timestamptz,
  -- Null: the number costs nothing.
  add column upfront_micro_usd bigint,
  add column monthly_micro_usd bigint,
  add column next_charge_at timestamptz,
  add column last_charged_at timestamptz;

-- A number of the carrier is one organization's. An order that failed keeps it from nobody else.
drop index phone_numbers_managed;
create unique index phone_numbers_managed on phone_numbers (e164)
  where source = 'managed' and not test and order_status <> 'failed';
drop index phone_numbers_managed_test;
create unique index phone_numbers_own on phone_numbers (organization_id, test, e164) where source = 'managed';
create index phone_numbers_orders on phone_numbers (look_at) where order_status = 'pending';
`,
}
