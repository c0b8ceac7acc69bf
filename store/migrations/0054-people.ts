import { ownOrganization } from '../postgres/policies.ts'
import type { Migration } from './migration.ts'

/** Adds who created an API key, and the audit log. Older keys have no creator, because it was not recorded. */
export const people: Migration = {
  version: 54,
  name: 'creators of keys, audit log',
  sql: `
alter table api_keys add column created_by_type text;
alter table api_keys add column created_by_id text;
-- Without a foreign key, so that a row of the log never waits for a change of the organization.
create table audit_events (
  organization_id text not null,
  id text not null,
  occurred_at timestamptz not null,
  actor_type text not null,
  actor_id text,
  action text not null,
  target_type text,
  target_id text,
  target_name text,
  -- The names of the fields in the request.
  changed jsonb not null,
  -- The values before and after, of the few fields whose values are stored.
  value_changes jsonb,
  ip text,
  user_agent text,
  via text not null,
  result text not null,
  request_id text,
  primary key (organization_id, id)
);
create index audit_events_newest on audit_events (organization_id, occurred_at desc, id desc);
create index audit_events_actor on audit_events (organization_id, actor_id, occurred_at desc, id desc);
create index audit_events_target on audit_events (organization_id, target_id, occurred_at desc, id desc);
create index audit_events_age on audit_events (occurred_at);
${ownOrganization('audit_events')}`,
}
