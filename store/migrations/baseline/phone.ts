import { ownWorld } from '../../postgres/policies.ts'

/** Tables for legs of calls, transfers, SIP connections and phone numbers. */
export const phone = `
create table call_legs (
  organization_id text not null,
  test boolean not null,
  id text not null,
  call_id uuid not null,
  -- caller: the person who talks to the agent; recipient: a person to whom the call is transferred.
  party text not null,
  direction text not null,
  -- The line that carries the leg: simulator, carrier or trunk.
  line text not null,
  -- The line's name for the leg. Null until the line has answered a dial.
  carrier_leg_id text,
  -- What the line needs to end the leg after the death of its process. Null: the leg is over, or the line needs nothing.
  dialog json check (octet_length(dialog::text) <= 16384),
  created_at timestamptz not null,
  answered_at timestamptz,
  -- The line has connected the leg with another leg. Both go on when their process dies.
  bridged_at timestamptz,
  ended_at timestamptz,
  -- Null: the price is not known.
  micro_usd_per_minute bigint,
  -- Taken from the credit until now, a minute ahead.
  charged_micro_usd bigint not null default 0,
  -- The leg has ended, and its whole cost is debited.
  is_settled boolean not null default false,
  primary key (organization_id, test, id),
  unique (id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create unique index call_legs_of_carrier on call_legs (line, carrier_leg_id);
create index call_legs_of_call on call_legs (organization_id, test, call_id);
-- Open legs and legs to be debited are few, and looked for often.
create index call_legs_open on call_legs (created_at) where ended_at is null;
create index call_legs_charges on call_legs (answered_at)
  where micro_usd_per_minute > 0 and answered_at is not null and not is_settled and not test;
create index call_legs_answered on call_legs (organization_id, test, answered_at) where answered_at is not null;
${ownWorld('call_legs')}
-- A row is one attempt to reach one recipient.
create table transfers (
  organization_id text not null,
  test boolean not null,
  id uuid not null,
  call_id uuid not null,
  kind text not null,
  status text not null,
  failure_cause text,
  to_number text not null,
  label text,
  leg_id text not null,
  caller_identity text not null,
  recipient_identity text not null,
  outbound_trunk_id text,
  screening_prompt text,
  summary text,
  voicemail_detected boolean not null,
  metadata json not null,
  -- What the caller got after the last attempt. Null: a recipient, or nothing yet.
  fallback json,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  completed_at timestamptz,
  primary key (organization_id, test, id),
  foreign key (organization_id, test, call_id) references calls on delete cascade
);
create index transfers_of_call on transfers (organization_id, test, call_id, created_at);
${ownWorld('transfers')}
create table sip_connections (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  name text not null,
  provider text,
  -- Null: no calls go out over the connection.
  outbound_host text,
  outbound_port integer,
  outbound_transport text,
  outbound_username text,
  -- Trunks differ in how they want calls to be addressed, and in whether they want a registration.
  outbound_user_phone boolean not null default false,
  -- from, preferred or asserted.
  outbound_identity text not null default 'from',
  outbound_register boolean not null default false,
  -- Null: no calls come in over the connection.
  inbound_addresses json,
  -- The same addresses in a form in which an address can be looked up.
  inbound_ranges inet[],
  inbound_username text,
  -- The passwords, as JSON (store/sealing/sealed.ts). Null: the connection has no passwords.
  secrets_id text,
  sealed bytea,
  sealed_by text,
  -- unverified, ready or failing.
  status text not null,
  -- Checks of the connection without an answer since the last answer.
  silences integer not null default 0,
  -- Failed registrations in a row. They are counted apart, because only a registration that the trunk takes ends them.
  registration_refusals integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id)
);
create unique index sip_connections_name on sip_connections (organization_id, test, name);
create index sip_connections_user on sip_connections (inbound_username) where not test;
${ownWorld('sip_connections')}
create table phone_numbers (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  e164 text not null,
  -- managed: a number of the carrier; sip_trunk: a number of a SIP connection.
  source text not null,
  direction text not null,
  agent_id text,
  label text,
  -- json and not jsonb, as in agents.
  dispatch_metadata_template json,
  sip_connection_id text,
  sip_provider_name text,
  -- pending, done or failed.
  order_status text not null default 'done',
  order_id text,
  -- The id of the number at the carrier.
  resource_id text,
  -- The order is looked at from then on, while it is pending.
  look_at timestamptz,
  -- Null: the number costs nothing.
  upfront_micro_usd bigint,
  monthly_micro_usd bigint,
  next_charge_at timestamptz,
  last_charged_at timestamptz,
  -- The first charge that could not be paid.
  overdue_since timestamptz,
  takes_sms boolean not null default false,
  sms_campaign_id text,
  sms_assignment_status text,
  sms_assigned_to text,
  sms_assignment_updated_at timestamptz,
  -- Why the carrier has refused to change the campaign of the number.
  sms_review_errors json not null default '[]',
  -- The time of the first call to the number. Null: no call has come yet.
  first_called_at timestamptz,
  suspended_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id),
  foreign key (organization_id, test, sip_connection_id) references sip_connections
);
-- A number of the carrier belongs to one organization, and a failed order leaves it to others. In the test world each
-- organization may have the number.
create unique index phone_numbers_managed on phone_numbers (e164)
  where source = 'managed' and not test and order_status <> 'failed';
create unique index phone_numbers_own on phone_numbers (organization_id, test, e164) where source = 'managed';
-- A number is imported once for each connection. No organization can keep the owner of a number from importing it.
create unique index phone_numbers_trunk on phone_numbers (organization_id, test, sip_connection_id, e164)
  where source = 'sip_trunk';
-- Trunks write the dialled number in many forms, which have the same end. Each call that comes in looks for it.
create index phone_numbers_ends on phone_numbers (right(e164, 6)) where source = 'sip_trunk' and not test;
create index phone_numbers_orders on phone_numbers (look_at) where order_status = 'pending';
create index phone_numbers_charges on phone_numbers (next_charge_at) where next_charge_at is not null;
${ownWorld('phone_numbers')}`
