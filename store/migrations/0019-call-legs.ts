import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const callLegs: Migration = {
  version: 19,
  name: 'calls by phone and their legs',
  sql: `
-- Numbers and leg of a call by phone. Null: it has no phone.
alter table calls add column phone json;
alter table call_events add column sip_status_code integer;

create table call_legs (
  organization_id text not null,
  test boolean not null,
  id text not null,
  call_id uuid not null,
  -- caller: of the person who talks to the agent; recipient: of one to whom the call is transferred.
  party text not null,
  direction text not null,
  -- Over which the leg goes: simulator, carrier or trunk.
  line text not null,
  -- The name that the line has for it. Null until the line has answered a dial.
  carrier_leg_id text,
  created_at timestamptz not null,
  answered_at timestamptz,
  ended_at timestamptz,
  -- Null: the price is not known.
  micro_usd_per_minute bigint,
  -- Taken from the credit so far, a minute ahead.
  charged_micro_usd bigint not null default 0,
  primary key (organization_id, test, id),
  unique (id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create unique index call_legs_of_carrier on call_legs (line, carrier_leg_id);
create index call_legs_of_call on call_legs (organization_id, test, call_id);
-- Few, and looked for often.
create index call_legs_open on call_legs (created_at) where ended_at is null;
${ownWorld('call_legs')}`,
}
