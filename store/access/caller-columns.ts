/** SQL columns to identify an API client, from an API key's row or from a user's role. */
import { scopesOfRole } from '../../domain/access/users.ts'
import type { Sql, Tx } from '../postgres/connect.ts'

export const apiKeyColumns = (sql: Sql | Tx) => sql`
  k.lookup, k.digest, ${keyColumns(sql)}, k.expires_at as "expiresAt", ${organizationColumns(sql)}`

/** Columns for a key's secret from before the last rotation. This secret can expire earlier than the key. */
export const previousSecretColumns = (sql: Sql | Tx) => sql`
  k.previous_lookup, k.previous_digest, ${keyColumns(sql)}, least(k.previous_until, k.expires_at), ${organizationColumns(sql)}`

const keyColumns = (sql: Sql | Tx) => sql`k.id as "keyId", k.scopes, null::text as role, k.policy, k.test`

/**
 * Users have no policy and see live data only. The user id is returned as the key id, so each user has separate limits.
 */
const userColumns = (sql: Sql | Tx) => sql`
  r.user_id as "keyId", ${sql.json(scopesOfRole)}::jsonb -> (${heldRole(sql)}) as scopes, ${heldRole(sql)} as role,
  '{}'::jsonb as policy, false as test`

/**
 * The user's role in `user_roles r`. An owner's row also has a role for server versions before schema 50, because such
 * a server may still run during an upgrade. If such a server changes the role, the ownership ends.
 */
export const heldRole = (sql: Sql | Tx) => sql`case when ${isOwner(sql)} then 'owner' else r.role end`
export const isOwner = (sql: Sql | Tx) => sql`r.owner_as = r.role`

export const credentialColumns = (sql: Sql | Tx) => sql`
  c.lookup, c.digest, ${userColumns(sql)}, c.expires_at as "expiresAt", ${organizationColumns(sql)}`

/**
 * Columns to check a user by id, for work that continues after the user's request. The query returns a row for each
 * session and token `c`. Without a session and a token, it returns a row for the role alone. A session's or a token's
 * work needs both its row and the role. Other work needs the role.
 */
export const roleColumns = (sql: Sql | Tx) => sql`
  coalesce(c.lookup, '') as lookup, ''::bytea as digest, ${userColumns(sql)}, c.expires_at as "expiresAt", ${organizationColumns(sql)}`

const organizationColumns = (sql: Sql | Tx) => sql`
  o.id as "organizationId", o.name as "organizationName", o.max_concurrency as "maxConcurrency", o.is_disabled as "isDisabled", ${ownKeys(sql)} as "ownKeys"`

export const ownKeys = (sql: Sql | Tx) => sql`
  (select coalesce(jsonb_object_agg(p.provider, p.id), '{}') from provider_keys p where p.organization_id = o.id)`
