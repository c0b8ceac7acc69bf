import type { Migration } from './migration.ts'

export const reportReceivers: Migration = {
  version: 17,
  name: 'the endpoints that receive the report of a call',
  sql: `
-- The ids of the endpoints that matched when the call ended: {"report": [], "analysis": []}. Null: none.
alter table call_reports add column receivers json;
-- The values of the extraction fields of these endpoints, by their ids. Null in reports of earlier versions.
alter table call_reports add column endpoint_data json;
-- The bytes of a delivery where they are not those of its event, because endpoints have different extraction fields.
alter table webhook_deliveries add column body bytea;
`,
}
