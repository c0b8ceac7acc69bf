import type { KeyPolicy, Scope } from '../domain/access/organization.ts'
import type { Clock } from '../domain/ports/system.ts'
import { uniqueId } from '../runtime/clock.ts'
import type { Tx } from './connect.ts'
import { notifyKeyChange } from './key-changes.ts'
import { newSecret, readSecret, suppliedPublicId } from './key-secret.ts'
import type { ReadStoredPolicy } from './keys.ts'
import type { Tenancy } from './tenant.ts'

export type ApiKey = {
  id: string
  organizationId: string
  name: string
  /** The part of the key that may be shown: `sk_live_Ab3dE9xz`. */
  publicId: string
  scopes: Scope[]
  policy: KeyPolicy
  test: boolean
  createdAt: Date
  rotatedAt: Date | null
  revokedAt: Date | null
  expiresAt: Date | null
  /** Exact to about a minute. */
  lastUsedAt: Date | null
}

export type NewKey = {
  organizationId: string
  name: string
  scopes: readonly Scope[]
  test: boolean
  policy: KeyPolicy
  expiresAtMs: number | null
  /** A secret that the operator brought. Absent: a new one is made. */
  secret?: string
}

/** A key of another organization is answered like one that does not exist. */
export type KeyAdministration = {
  /** Only this answer contains the secret. Null: no such organization. */
  create(key: NewKey): Promise<{ key: ApiKey; secret: string } | null>
  list(organizationId: string): Promise<ApiKey[]>
  /** The old secret ends at once. Null: no such key, or revoked. */
  rotate(organizationId: string, keyId: string): Promise<{ key: ApiKey; secret: string } | null>
  /** False: no such key, or revoked before. */
  revoke(organizationId: string, keyId: string): Promise<boolean>
}

export function createKeyAdministration(
  tenancy: Tenancy,
  clock: Clock,
  readPolicy: ReadStoredPolicy,
): KeyAdministration {
  const now = () => new Date(clock.nowMs())
  return {
    create(key) {
      const { secret, publicId } = key.secret === undefined ? newSecret(key.test) : supplied(key.secret)
      return tenancy.asOrganization(key.organizationId, async (tx) => {
        const row = await insertKey(tx, key, secret, publicId, now())
        return row && { key: row, secret }
      })
    },
    list: (organizationId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx<ApiKey[]>`
          select ${columns(tx)} from api_keys where organization_id = ${organizationId} order by created_at, id`
        return rows.map((row) => ({ ...row, policy: readPolicy(row.policy).policy }))
      }),
    rotate: (organizationId, keyId) =>
      tenancy.asOrganization(organizationId, (tx) => rotateKey(tx, organizationId, keyId, now())),
    revoke: (organizationId, keyId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx<Lookup[]>`
          update api_keys set revoked_at = ${now()}
          where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null returning lookup`
        for (const row of rows) await notifyKeyChange(tx, row)
        return rows.length > 0
      }),
  }
}

type Lookup = { lookup: string }

const supplied = (secret: string) => ({ secret, publicId: suppliedPublicId(secret) })

/** Null: no such organization. */
async function insertKey(tx: Tx, key: NewKey, secret: string, publicId: string, now: Date): Promise<ApiKey | null> {
  const presented = readSecret(secret)
  if (!presented) throw new Error('A key is sk_live_ or sk_test_ and at least 24 printable characters without spaces.')
  const expiresAt = key.expiresAtMs === null ? null : new Date(key.expiresAtMs)
  const [row] = await tx<ApiKey[]>`
    insert into api_keys
      (organization_id, id, name, public_id, lookup, digest, scopes, policy, test, created_at, expires_at)
    select o.id, ${`key_${uniqueId()}`}, ${key.name}, ${publicId}, ${presented.lookup}, ${presented.digest},
      ${tx.json(key.scopes)}, ${tx.json(key.policy)}, ${key.test}, ${now}, ${expiresAt}
    from organizations o where o.id = ${key.organizationId}
    returning ${columns(tx)}`
  // The key may have been tried before it existed, and that answer is remembered.
  if (row) await notifyKeyChange(tx, presented)
  return row ?? null
}

async function rotateKey(tx: Tx, organizationId: string, keyId: string, now: Date) {
  const [old] = await tx<(Lookup & { test: boolean })[]>`
    select lookup, test from api_keys
    where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null for update`
  if (!old) return null
  const { secret, publicId } = newSecret(old.test)
  const { lookup, digest } = readSecret(secret) as { lookup: string; digest: Buffer }
  const [key] = await tx<ApiKey[]>`
    update api_keys set public_id = ${publicId}, lookup = ${lookup}, digest = ${digest}, rotated_at = ${now}
    where organization_id = ${organizationId} and id = ${keyId}
    returning ${columns(tx)}`
  await notifyKeyChange(tx, old)
  return key ? { key, secret } : null
}

const columns = (tx: Tx) => tx`
  id, organization_id as "organizationId", name, public_id as "publicId", scopes, policy, test, created_at as "createdAt",
  rotated_at as "rotatedAt", revoked_at as "revokedAt", expires_at as "expiresAt", last_used_at as "lastUsedAt"`
