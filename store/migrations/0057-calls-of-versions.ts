import type { Migration } from './migration.ts'

/** Adds an index to count the calls of a version. */
export const callsOfVersions: Migration = {
  version: 57,
  name: 'an index for the calls of a version',
  indexes: [
    {
      name: 'calls_of_version',
      table: 'calls',
      of: '(organization_id, test, agent_id, agent_version) where agent_version is not null',
    },
  ],
}
