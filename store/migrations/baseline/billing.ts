import { ownOrganization, ownWorld } from '../../postgres/policies.ts'

/** Tables for credit: reserved and spent amounts, the budgets of API keys, and the sums over deleted requests. */
export const billing = `
-- The credit that is set aside for requests under way.
create table reservations (
  organization_id text not null,
  request_id text not null,
  micro_usd bigint not null check (micro_usd > 0),
  instance_id text not null,
  -- The budget that the reservation was taken from. Null: the key has no budget.
  key_id text,
  period text,
  primary key (organization_id, request_id)
);
${ownOrganization('reservations')}
-- Takes a batch of {index, organizationId, requestId, microUsd} and answers the index of each ask that was granted. The
-- asks of an organization are granted in order, while the balance covers them. A function and not a statement, because
-- each update must see the balance that the update before it left.
create function reserve_credit(asks json, instance text) returns setof integer
language plpgsql as $$
declare
  -- One order of organizations for everybody, or two batches could wait for each other.
  organization text;
  asked record;
begin
  for organization in
    select distinct a->>'organizationId' as id from json_array_elements(asks) a order by id
  loop
    -- Nearly always the balance covers them all: one update for the batch.
    return query
      with ask as materialized (
        select * from json_to_recordset(asks) as a (index int, "organizationId" text, "requestId" text, "microUsd" bigint)
        where "organizationId" = organization
      ), paid as (
        update organizations o set credit_micro_usd = o.credit_micro_usd - t.total
        from (select sum("microUsd")::bigint as total from ask) t
        where o.id = organization and o.credit_micro_usd >= t.total
        returning o.id
      ), kept as (
        insert into reservations as r (organization_id, request_id, micro_usd, instance_id)
        select organization, ask."requestId", sum(ask."microUsd"), instance from ask, paid group by ask."requestId"
        -- A request that goes on reserves again.
        on conflict (organization_id, request_id) do update set micro_usd = r.micro_usd + excluded.micro_usd
      )
      select ask.index from ask, paid;
    continue when found;
    for asked in
      select * from json_to_recordset(asks) as a (index int, "organizationId" text, "requestId" text, "microUsd" bigint)
      where "organizationId" = organization order by index
    loop
      update organizations set credit_micro_usd = credit_micro_usd - asked."microUsd"
        where id = organization and credit_micro_usd >= asked."microUsd";
      continue when not found;
      insert into reservations as r (organization_id, request_id, micro_usd, instance_id)
        values (organization, asked."requestId", asked."microUsd", instance)
        on conflict (organization_id, request_id) do update set micro_usd = r.micro_usd + excluded.micro_usd;
      return next asked.index;
    end loop;
  end loop;
end $$;

-- The cost of a key with a budget in a period of the budget.
create table key_budgets (
  organization_id text not null,
  key_id text not null,
  -- In UTC: 2026-11-24, 2026-11 or total.
  period text not null,
  spent_micro_usd bigint not null,
  -- Set aside for the most that requests under way can cost.
  reserved_micro_usd bigint not null,
  updated_at timestamptz not null,
  primary key (organization_id, key_id, period)
-- Every settled batch changes the sums. Free space on the page keeps these updates out of the index.
) with (fillfactor = 50);
${ownOrganization('key_budgets')}
-- An event happens once for each budget and period. A process that has reported the event to the operator marks it.
create table key_budget_events (
  organization_id text not null,
  key_id text not null,
  period text not null,
  -- warned: 80 % were spent. exhausted: all was spent, or a request was refused.
  event text not null check (event in ('warned', 'exhausted')),
  occurred_at timestamptz not null,
  reported_at timestamptz,
  primary key (organization_id, key_id, period, event)
);
create index key_budget_events_unreported on key_budget_events (occurred_at) where reported_at is null;
${ownOrganization('key_budget_events')}
-- The name of the period that a time is in.
create function budget_period(kind text, at timestamptz) returns text language sql stable as $$
  select case kind
    when 'day' then to_char(at at time zone 'UTC', 'YYYY-MM-DD')
    when 'month' then to_char(at at time zone 'UTC', 'YYYY-MM')
    else 'total'
  end
$$;

-- Like reserve_credit, for a batch in which keys have budgets: an ask also has {keyId, period, budgetMicroUsd}, or nulls.
-- Answers for each ask what did not cover it: 'credit', 'budget', or null if both covered it.
create function reserve_within_budgets(asks json, instance text, at timestamptz)
returns table (ask_index integer, ask_refusal text)
language plpgsql as $$
declare
  organization text;
  asked record;
begin
  -- Every transaction locks its organizations in one order, and before their budgets. So nobody else takes from a budget of them until the
  -- end, and each statement below sees all that was taken before.
  perform from organizations where id in (select a->>'organizationId' from json_array_elements(asks) a)
    order by id for no key update;
  for organization in
    select distinct a->>'organizationId' as id from json_array_elements(asks) a order by id
  loop
    -- Nearly always balance and budgets cover them all: one statement for the batch.
    return query
      with ask as materialized (
        select * from json_to_recordset(asks) as a
          (index int, "organizationId" text, "requestId" text, "microUsd" bigint, "keyId" text, period text, "budgetMicroUsd" bigint)
        where "organizationId" = organization
      ), wanted as materialized (
        select "keyId", period, min("budgetMicroUsd") as budget, sum("microUsd")::bigint as total
        from ask where "keyId" is not null group by "keyId", period order by "keyId", period
      ), uncovered as (
        select from wanted w left join key_budgets b
          on b.organization_id = organization and b.key_id = w."keyId" and b.period = w.period
        where coalesce(b.spent_micro_usd + b.reserved_micro_usd, 0) + w.total > w.budget
      ), paid as (
        update organizations o set credit_micro_usd = o.credit_micro_usd - t.total
        from (select sum("microUsd")::bigint as total from ask) t
        where o.id = organization and o.credit_micro_usd >= t.total and not exists (select from uncovered)
        returning o.id
      ), counted as (
        insert into key_budgets as b (organization_id, key_id, period, spent_micro_usd, reserved_micro_usd, updated_at)
        select organization, w."keyId", w.period, 0, w.total, at from wanted w, paid
        on conflict (organization_id, key_id, period) do update
          set reserved_micro_usd = b.reserved_micro_usd + excluded.reserved_micro_usd, updated_at = at
      ), kept as (
        insert into reservations as r (organization_id, request_id, micro_usd, instance_id, key_id, period)
        select organization, ask."requestId", sum(ask."microUsd"), instance, ask."keyId", ask.period
        from ask, paid group by ask."requestId", ask."keyId", ask.period
        on conflict (organization_id, request_id) do update set micro_usd = r.micro_usd + excluded.micro_usd
      )
      select ask.index, null::text from ask, paid;
    continue when found;
    for asked in
      select * from json_to_recordset(asks) as a
        (index int, "organizationId" text, "requestId" text, "microUsd" bigint, "keyId" text, period text, "budgetMicroUsd" bigint)
      where "organizationId" = organization order by a.index
    loop
      if asked."keyId" is not null and asked."budgetMicroUsd" < asked."microUsd" + coalesce((
        select b.spent_micro_usd + b.reserved_micro_usd from key_budgets b
        where b.organization_id = organization and b.key_id = asked."keyId" and b.period = asked.period), 0)
      then
        insert into key_budget_events (organization_id, key_id, period, event, occurred_at)
          values (organization, asked."keyId", asked.period, 'exhausted', at) on conflict do nothing;
        return query select asked.index, 'budget';
        continue;
      end if;
      update organizations set credit_micro_usd = credit_micro_usd - asked."microUsd"
        where id = organization and credit_micro_usd >= asked."microUsd";
      if not found then
        return query select asked.index, 'credit';
        continue;
      end if;
      if asked."keyId" is not null then
        insert into key_budgets as b (organization_id, key_id, period, spent_micro_usd, reserved_micro_usd, updated_at)
          values (organization, asked."keyId", asked.period, 0, asked."microUsd", at)
          on conflict (organization_id, key_id, period) do update
            set reserved_micro_usd = b.reserved_micro_usd + excluded.reserved_micro_usd, updated_at = at;
      end if;
      insert into reservations as r (organization_id, request_id, micro_usd, instance_id, key_id, period)
        values (organization, asked."requestId", asked."microUsd", instance, asked."keyId", asked.period)
        on conflict (organization_id, request_id) do update set micro_usd = r.micro_usd + excluded.micro_usd;
      return query select asked.index, null::text;
    end loop;
  end loop;
end $$;

-- Everything that changed the credit. Requests and calls have one row for each UTC day, which grows. The sum of the
-- movements is the credit with the reservations.
create table credit_movements (
  organization_id text not null references organizations,
  id text not null,
  -- opening, operator, phone_number, requests or calls
  kind text not null,
  micro_usd bigint not null,
  phone_number_id text,
  -- The UTC day on which the requests or calls were settled.
  day date,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, id)
-- Every settled batch changes the row of the day. Free space on the page keeps these updates out of the index.
) with (fillfactor = 80);
create index credit_movements_created on credit_movements (organization_id, created_at, id);
${ownOrganization('credit_movements')}
-- Sums of the requests and legs that were deleted for their age: a row for each unit of a day (UTC) and its key, agent,
-- provider, model and stage. The row without a unit is about uses without a quantity.
create table usage_days (
  organization_id text not null,
  test boolean not null,
  day date not null,
  key_id text not null,
  agent_id text,
  provider text,
  model text,
  stage text not null,
  unit text,
  -- Decimal, so that the sum does not depend on the order of the additions.
  amount numeric,
  -- A use is counted in the row of its first unit.
  requests bigint not null,
  legs bigint not null,
  failed bigint not null,
  unpriced bigint not null,
  -- Null: no price of the uses is known, which is not 0.
  cost_micro_usd bigint,
  unique nulls not distinct (organization_id, test, day, key_id, agent_id, provider, model, stage, unit)
);
${ownWorld('usage_days')}`
