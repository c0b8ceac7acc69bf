import type { Migration } from './migration.ts'

/**
 * Adds an organization's time zone, and its choices about stored tool results and message texts. The previous server
 * version ignores the choices: it stores all tool results and no message texts.
 */
export const organizationChoices: Migration = {
  version: 62,
  name: 'time zones of organizations, and texts of messages',
  sql: `
-- An IANA name.
alter table organizations add column time_zone text not null default 'UTC';
-- keep or drop: the program names the choices.
alter table organizations add column tool_results text not null default 'keep';
alter table organizations add column message_text text not null default 'drop';
-- Null: the text was not stored, or was deleted for its age, or was empty.
alter table rmsg_messages add column text text;`,
}
