import type { Migration } from './migration.ts'

export const recordingUploads: Migration = {
  version: 14,
  name: 'calls whose recordings wait to be uploaded',
  sql: `
-- Few, and looked for every second.
create index calls_uploading on calls (ended_at) where recording_status = 'uploading';
`,
}
