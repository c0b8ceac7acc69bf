import type { Migration } from './migration.ts'

export const messageStates: Migration = {
  version: 41,
  name: 'states of rich-message numbers and of text-message registrations that outlive a failure',
  sql: `
-- The operator had paused the number when the provider lost it.
alter table rmsg_numbers add column was_paused boolean not null default false;
-- Why the carrier has refused to change the campaign of the number.
alter table phone_numbers add column sms_review_errors json not null default '[]';
-- The campaign that the carrier was asked to make, until its answer is known.
alter table sms_registrations add column campaign_intent json;
`,
}
