import type { Migration } from './migration.ts'

export const rmsgEvents: Migration = {
  version: 36,
  name: 'events of rich messages, and their deliveries',
  sql: `
-- An event of a rich message belongs to no call.
alter table webhook_events alter column call_id drop not null;
alter table webhook_deliveries alter column call_id drop not null;
-- The id of an event of a rich message, which is the webhook-id of its deliveries.
alter table webhook_events add column provider_event_id text;
-- Until then the process that has claimed an event of a rich message sends it.
alter table webhook_events add column working_until timestamptz;
-- All subscriptions have taken it.
alter table webhook_events add column is_taken boolean not null default false;
create unique index webhook_events_provider on webhook_events (provider_event_id) where provider_event_id is not null;
-- A subscription has one delivery of an event, however often the provider sends it.
create unique index webhook_deliveries_rmsg on webhook_deliveries (organization_id, test, event_id, endpoint_id) where call_id is null;
-- The event that said that the message was sent. There is one.
alter table rmsg_messages add column sent_event_id text;
-- For events of a conversation with a number in no pool.
create index rmsg_messages_conversation on rmsg_messages (conversation_id, created_at);
`,
}
