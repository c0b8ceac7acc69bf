import type { Migration } from './migration.ts'

export const creditMovements: Migration = {
  version: 30,
  name: 'movements of credit',
  sql: `
-- All that has changed the credit. Requests and calls have one row for each UTC day, which grows. The sum is the credit with what is reserved.
create table credit_movements (
  organization_id text not null references organizations,
  id text not null,
  -- opening, operator, phone_number, requests or calls
  kind text not null,
  micro_usd bigint not null,
  phone_number_id text,
  -- The UTC day that requests or calls were settled on.
  day date,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id)
-- The row of a day changes with each settled batch: room on the page keeps those updates out of the index.
) with (fillfactor = 80);
create index credit_movements_created on credit_movements (organization_id, created_at, id);

alter table credit_movements enable row level security;
alter table credit_movements force row level security;
create policy own_organization on credit_movements
  using ((select current_setting('app.organization', true)) in (organization_id, '*'));

-- Until the transaction of the migrations ends.
select set_config('app.organization', '*', true);
insert into credit_movements (organization_id, id, kind, micro_usd, created_at, updated_at)
select o.id, 'credit_opening', 'opening', o.credit_micro_usd + coalesce(r.micro_usd, 0), now(), now()
from organizations o left join (
  select organization_id, sum(micro_usd)::bigint as micro_usd from reservations group by organization_id
) r on r.organization_id = o.id;
`,
}
