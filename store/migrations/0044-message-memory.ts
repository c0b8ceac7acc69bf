import type { Migration } from './migration.ts'

export const messageMemory: Migration = {
  version: 44,
  name: 'what is remembered of rich-message pools and of brands that were asked for',
  sql: `
-- The organization has had a live number in its pool, so the rule of before pools holds for it no more.
alter table organizations add column rmsg_legacy_ended boolean not null default false;
update organizations o set rmsg_legacy_ended = true
  where exists (select from rmsg_numbers n where n.organization_id = o.id and not n.test);
-- The brand that the carrier was asked to register, until its answer is known.
alter table sms_registrations add column brand_intent json;
`,
}
