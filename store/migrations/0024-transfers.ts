import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const transfers: Migration = {
  version: 24,
  name: 'transfers of calls',
  sql: `
-- Two legs that the line has connected go on when their process dies.
alter table call_legs add column bridged_at timestamptz;

-- One attempt to reach one recipient.
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
${ownWorld('transfers')}`,
}
