import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const rmsgMessages: Migration = {
  version: 31,
  name: 'rich messages that organizations send',
  sql: `
create table rmsg_messages (
  organization_id text not null references organizations,
  test boolean not null,
  id uuid not null,
  -- No foreign key: the operator may remove the number.
  phone_number_id uuid not null,
  conversation_id uuid not null,
  remote_number text not null,
  -- Of the request. They choose who gets the events of the message.
  tags json not null,
  status text not null check (status in ('registered', 'pending', 'queued', 'accepted', 'sent', 'delivered', 'declined', 'error')),
  -- The service that carried it. Null: not known yet.
  channel text check (channel in ('rmsg', 'sms', 'rcs')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id)
);
-- Reports of the provider name only the message.
create unique index rmsg_messages_id on rmsg_messages (id);
${ownWorld('rmsg_messages')}`,
}
