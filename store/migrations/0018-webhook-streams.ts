import type { Migration } from './migration.ts'
import { ownWorld } from './own-world.ts'

export const webhookStreams: Migration = {
  version: 18,
  name: 'open streams of webhook events',
  sql: `
-- The tenants with a stream that is open, or was a moment ago.
create table webhook_streams (
  organization_id text not null references organizations,
  test boolean not null,
  open_until timestamptz not null,
  primary key (organization_id, test)
);
${ownWorld('webhook_streams')}`,
}
