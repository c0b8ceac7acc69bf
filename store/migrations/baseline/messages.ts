import { ownWorld } from '../../postgres/policies.ts'

/**
 * Tables for rich messages with their numbers and subscriptions, and for the registration of text messages in the USA.
 */
export const messages = `
-- The inventory of rich-message numbers.
create table rmsg_numbers (
  -- Numbers of test keys are simulated. No live key sees a simulated number.
  test boolean not null,
  id uuid not null,
  e164 text not null,
  -- The name of the number at the provider.
  provider_identity text not null,
  -- The organization whose pool has the number. Null: the number is in no pool.
  organization_id text references organizations,
  -- The agent that answers on the number. Null: the number is free.
  agent_id text,
  status text not null check (status in ('active', 'paused', 'unavailable')),
  -- The operator had paused the number when the provider lost it.
  was_paused boolean not null default false,
  sms_status text not null check (sms_status in ('not_configured', 'pending', 'ready', 'failed')),
  sms_ready_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (test, id),
  -- The number of a deleted agent is free again.
  foreign key (organization_id, test, agent_id) references agents on delete set null (agent_id),
  check (agent_id is null or organization_id is not null)
);
create unique index rmsg_numbers_e164 on rmsg_numbers (test, e164);
create unique index rmsg_numbers_identity on rmsg_numbers (test, provider_identity);
create unique index rmsg_numbers_agent on rmsg_numbers (organization_id, test, agent_id) where agent_id is not null;
create index rmsg_numbers_pool on rmsg_numbers (organization_id, test, created_at);
${ownWorld('rmsg_numbers')}
create table rmsg_messages (
  organization_id text not null references organizations,
  test boolean not null,
  id uuid not null,
  -- No foreign key: the operator may remove the number.
  phone_number_id uuid not null,
  conversation_id uuid not null,
  remote_number text not null,
  -- The tags of the request. They choose the subscriptions that get the events of the message.
  tags json not null,
  status text not null check (status in ('registered', 'pending', 'queued', 'accepted', 'sent', 'delivered', 'declined', 'error')),
  -- The service that carried the message. Null: not known yet.
  channel text check (channel in ('rmsg', 'sms', 'rcs')),
  -- The one event that said that the message was sent.
  sent_event_id text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id)
);
-- Reports of the provider name only the message.
create unique index rmsg_messages_id on rmsg_messages (id);
-- For events of a conversation with a number that is in no pool.
create index rmsg_messages_conversation on rmsg_messages (conversation_id, created_at);
${ownWorld('rmsg_messages')}
-- Subscriptions to the events of rich messages.
create table rmsg_subscriptions (
  organization_id text not null references organizations,
  test boolean not null,
  id uuid not null,
  url text not null,
  -- SHA-256 of the address in the form in which URLs are compared. The address can be longer than an index takes.
  url_digest bytea not null,
  -- json and not jsonb, as in agents.
  tags json not null,
  -- The custom secret (store/sealing/sealed.ts). Null: the secret of the organization signs. A new secret gets a new id.
  secrets_id text,
  sealed bytea,
  sealed_by text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (organization_id, test, id),
  check ((sealed is null) = (sealed_by is null) and (sealed is null) = (secrets_id is null))
);
create unique index rmsg_subscriptions_url on rmsg_subscriptions (organization_id, test, url_digest);
create index rmsg_subscriptions_sealed_by on rmsg_subscriptions (sealed_by) where sealed_by is not null;
${ownWorld('rmsg_subscriptions')}
-- The brand of an organization, and the campaign that it prepares.
create table sms_registrations (
  organization_id text not null references organizations,
  test boolean not null,
  brand_profile json,
  brand_status text not null default 'draft',
  identity_status text,
  brand_review_errors json not null default '[]',
  brand_submitted_at timestamptz,
  brand_carrier_id text,
  -- The brand that the carrier was asked to register, until its answer is known.
  brand_intent json,
  -- The carrier has an older profile of the brand, or no profile yet.
  brand_is_changed boolean not null default true,
  campaign_profile json,
  campaign_review_errors json not null default '[]',
  -- The campaign that the carrier was asked to make, until its answer is known.
  campaign_intent json,
  -- Until then a step at the carrier is under way.
  claimed_until timestamptz,
  primary key (organization_id, test)
);
${ownWorld('sms_registrations')}
-- Campaigns at the carrier. Each campaign was paid for, so no campaign is removed.
create table sms_campaigns (
  organization_id text not null references organizations,
  test boolean not null,
  id text not null,
  status text not null,
  review_errors json not null,
  submitted_at timestamptz not null,
  -- The newer of two campaigns has the higher number.
  number bigint generated always as identity,
  primary key (organization_id, test, id)
);
${ownWorld('sms_campaigns')}
-- The campaign of the operator that the numbers of all organizations may use. There is at most one row.
create table sms_shared_campaign (
  is_only boolean primary key default true check (is_only),
  label text not null,
  campaign_id text not null,
  status text not null
);
`
