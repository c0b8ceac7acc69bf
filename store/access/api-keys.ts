import type { Clock } from '../../domain/ports/system.ts'
import type { KeyPolicy, Scope } from '../../domain/records/organization.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { newSecret, readSecret, suppliedPublicId } from './key-secret.ts'
import type { ReadStoredPolicy } from './keys.ts'

export type ApiKey = {
  id: string
  organizationId: string
  name: string
  /** The key's public part, which may be shown: `sk_live_Ab3dE9xz`. */
  publicId: string
  scopes: Scope[]
  policy: KeyPolicy
  test: boolean
  createdAt: Date
  rotatedAt: Date | null
  /** The secret from before the last rotation works until this time. Null if no old secret works. */
  previousUntil: Date | null
  revokedAt: Date | null
  expiresAt: Date | null
  /** The time of the last use, accurate to about a minute. */
  lastUsedAt: Date | null
}

export type NewKey = {
  organizationId: string
  name: string
  scopes: readonly Scope[]
  test: boolean
  policy: KeyPolicy
  expiresAtMs: number | null
  /** The operator's secret. If it is absent, a new secret is made. */
  secret?: string
}

/** Administers an organization's API keys. If a key belongs to another organization, it is treated as unknown. */
export type KeyAdministration = {
  /** Makes a key. The secret is in this answer and can never be read again. Null if the organization does not exist. */
  create(key: NewKey): Promise<{ key: ApiKey; secret: string } | null>
  list(organizationId: string): Promise<ApiKey[]>
  /**
   * Makes a new secret. The present secret works for another `overlapMs`; a still older secret ends at once. Null if
   * the key is unknown or revoked.
   */
  rotate(organizationId: string, keyId: string, overlapMs: number): Promise<{ key: ApiKey; secret: string } | null>
  /** Returns false if the key is unknown or already revoked. */
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
    rotate: (organizationId, keyId, overlapMs) =>
      tenancy.asOrganization(organizationId, (tx) => rotateKey(tx, organizationId, keyId, clock.nowMs(), overlapMs)),
    revoke: (organizationId, keyId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const [row] = await tx<Lookups[]>`
          update api_keys set revoked_at = ${now()}
          where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null
          returning lookup, previous_lookup as "previousLookup"`
        if (row === undefined) return false
        await notifyBoth(tx, organizationId, row)
        return true
      }),
  }
}

type Lookups = { lookup: string; previousLookup: string | null }

/**
 * Notifies processes twice. The key's lookup clears cached keys. The organization's id finds its open sockets and
 * calls, because processes do not find them by key.
 */
async function notifyBoth(tx: Tx, organizationId: string, { lookup, previousLookup }: Lookups): Promise<void> {
  await notifyKeyChange(tx, { lookup })
  if (previousLookup !== null) await notifyKeyChange(tx, { lookup: previousLookup })
  await notifyKeyChange(tx, { organizationId })
}

const supplied = (secret: string) => ({ secret, publicId: suppliedPublicId(secret) })

/** Returns null if the organization does not exist. */
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
  // If a request presented the key before the key was made, processes have cached it as unknown. This clears their
  // caches.
  if (row) await notifyKeyChange(tx, presented)
  return row ?? null
}

async function rotateKey(tx: Tx, organizationId: string, keyId: string, nowMs: number, overlapMs: number) {
  const [old] = await tx<(Lookups & { test: boolean })[]>`
    select lookup, previous_lookup as "previousLookup", test from api_keys
    where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null for update`
  if (!old) return null
  const { secret, publicId } = newSecret(old.test)
  const { lookup, digest } = readSecret(secret) as { lookup: string; digest: Buffer }
  const overlaps = overlapMs > 0
  const [key] = await tx<ApiKey[]>`
    update api_keys set public_id = ${publicId}, lookup = ${lookup}, digest = ${digest}, rotated_at = ${new Date(nowMs)},
      previous_lookup = ${overlaps ? tx`lookup` : null}, previous_digest = ${overlaps ? tx`digest` : null},
      previous_until = ${overlaps ? new Date(nowMs + overlapMs) : null}
    where organization_id = ${organizationId} and id = ${keyId}
    returning ${columns(tx)}`
  await notifyBoth(tx, organizationId, old)
  return key ? { key, secret } : null
}

const columns = (tx: Tx) => tx`
  id, organization_id as "organizationId", name, public_id as "publicId", scopes, policy, test, created_at as "createdAt",
  rotated_at as "rotatedAt", previous_until as "previousUntil", revoked_at as "revokedAt", expires_at as "expiresAt", last_used_at as "lastUsedAt"`
