import type { Migration } from './migration.ts'

export const disabledOrganizations: Migration = {
  version: 39,
  name: 'organizations that the operator has disabled',
  sql: `
alter table organizations add column is_disabled boolean not null default false;
`,
}
