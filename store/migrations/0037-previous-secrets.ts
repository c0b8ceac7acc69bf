import type { Migration } from './migration.ts'

export const previousSecrets: Migration = {
  version: 37,
  name: 'the secret of a key before its rotation',
  sql: `
alter table api_keys
  -- The secret before the last rotation, which still works until then. Null: it has ended with the rotation.
  add previous_lookup text,
  add previous_digest bytea check (length(previous_digest) = 32),
  add previous_until timestamptz,
  add check ((previous_lookup is null) = (previous_digest is null) and (previous_lookup is null) = (previous_until is null));
create index api_keys_previous on api_keys (previous_lookup) where previous_lookup is not null;
`,
}
