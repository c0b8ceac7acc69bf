import { isDeepStrictEqual } from 'node:util'
import {
  type ApiKey,
  type IssuedKey,
  type KeyAdministration,
  type KeyChange,
  keysMax,
  type NewKey,
} from '../../domain/access/api-keys.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { commandEvent, operator } from '../../domain/records/audit.ts'
import type { KeyPolicy } from '../../domain/records/organization.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { beginBudget } from '../billing/key-budgets.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import { lockTenant } from '../postgres/advisory-locks.ts'
import { insertAuditEvent } from '../postgres/audit-rows.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { newSecret, readSecret, suppliedPublicId } from './key-secret.ts'
import type { ReadStoredPolicy } from './keys.ts'

export function createKeyAdministration(
  tenancy: Tenancy,
  clock: Clock,
  readPolicy: ReadStoredPolicy,
): KeyAdministration {
  const now = () => new Date(clock.nowMs())
  const readable = (row: ApiKey) => ({ ...row, policy: readPolicy(row.policy).policy })
  /**
   * Stores an audit event for a change by the operator's command line. A change by an API request has an audit entry
   * already.
   */
  const noteCommand = (tx: Tx, action: string, { organizationId, id, name }: KeyName) =>
    insertAuditEvent(tx, commandEvent(organizationId, action, { type: 'key', id, name }), now())
  const insert = (tx: Tx, key: NewKey) => {
    const { secret, publicId } = key.secret === undefined ? newSecret(key.test) : supplied(key.secret)
    return insertKey(tx, key, secret, publicId, now())
  }
  return {
    create: (key) =>
      tenancy.asOrganization(key.organizationId, async (tx) => {
        const made = await insert(tx, key)
        if (made !== null) await noteCommand(tx, 'key.created', made.key)
        return made
      }),
    createLimited: (key, entry) =>
      tenancy.asOrganization(
        key.organizationId,
        async (tx) => {
          if ((await countKeys(tx, key.organizationId)) >= keysMax) return 'limit_reached'
          const made = await insert(tx, key)
          if (made === null) throw new Error('the organization of a live key is not stored')
          return made
        },
        entry,
      ),
    ...readingKeys(tenancy, readable),
    change: (organizationId, keyId, change, entry) =>
      tenancy.asOrganization(
        organizationId,
        async (tx) => {
          const row = await changeKey(tx, organizationId, keyId, change, now())
          return row && readable(row)
        },
        entry,
      ),
    rotate: (organizationId, keyId, overlapMs, entry) =>
      tenancy.asOrganization(
        organizationId,
        async (tx) => {
          const rotated = await rotateKey(tx, organizationId, keyId, clock.nowMs(), overlapMs)
          if (rotated !== null && entry === undefined) await noteCommand(tx, 'key.rotated', rotated.key)
          return rotated
        },
        entry,
      ),
    revoke: (organizationId, keyId, entry) =>
      tenancy.asOrganization(
        organizationId,
        async (tx) => {
          const [row] = await tx<(Lookups & { name: string })[]>`
          update api_keys set revoked_at = ${now()}
          where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null
          returning name, lookup, previous_lookup as "previousLookup"`
          if (row === undefined) return false
          await notifyBoth(tx, organizationId, row)
          if (entry === undefined) await noteCommand(tx, 'key.revoked', { organizationId, id: keyId, name: row.name })
          return true
        },
        entry,
      ),
  }
}

function readingKeys(
  tenancy: Tenancy,
  readable: (row: ApiKey) => ApiKey,
): Pick<KeyAdministration, 'list' | 'listBy' | 'get'> {
  return {
    list: (organizationId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx<ApiKey[]>`
          select ${columns(tx)} from api_keys where organization_id = ${organizationId} order by created_at, id`
        return rows.map(readable)
      }),
    listBy: (organizationId, isRevoked) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx<ApiKey[]>`
          select ${columns(tx)} from api_keys
          where organization_id = ${organizationId} and (revoked_at is not null) = ${isRevoked}
          order by created_at, id limit ${keysMax}`
        return rows.map(readable)
      }),
    get: (organizationId, keyId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const [row] = await tx<ApiKey[]>`
          select ${columns(tx)} from api_keys where organization_id = ${organizationId} and id = ${keyId}`
        return row === undefined ? null : readable(row)
      }),
  }
}

type KeyName = Pick<ApiKey, 'organizationId' | 'id' | 'name'>
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

/** Counts the keys that are not revoked. Takes a lock, so that two requests do not both make the last key. */
async function countKeys(tx: Tx, organizationId: string): Promise<number> {
  await lockTenant(tx, { organizationId, test: false }, 'apiKeys')
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count from api_keys where organization_id = ${organizationId} and revoked_at is null`
  return row?.count ?? 0
}

/** Returns null if the organization does not exist. */
async function insertKey(tx: Tx, key: NewKey, secret: string, publicId: string, now: Date): Promise<IssuedKey | null> {
  const presented = readSecret(secret)
  if (!presented) throw new Error('A key is sk_live_ or sk_test_ and at least 24 printable characters without spaces.')
  const { createdBy = operator } = key
  const expiresAt = key.expiresAtMs === null ? null : new Date(key.expiresAtMs)
  const [row] = await tx<ApiKey[]>`
    insert into api_keys
      (organization_id, id, name, public_id, lookup, digest, scopes, policy, test, created_at, expires_at,
        created_by_type, created_by_id)
    select o.id, ${`key_${uniqueId()}`}, ${key.name}, ${publicId}, ${presented.lookup}, ${presented.digest},
      ${tx.json(key.scopes)}, ${tx.json(key.policy)}, ${key.test}, ${now}, ${expiresAt},
      ${createdBy.type}, ${createdBy.id}
    from organizations o where o.id = ${key.organizationId}
    returning ${columns(tx)}`
  // If a request presented the key before the key was made, processes have cached it as unknown. This clears their
  // caches.
  if (row) await notifyKeyChange(tx, presented)
  return row ? { key: row, secret } : null
}

/** Returns null if the key is unknown or revoked. */
async function changeKey(tx: Tx, organizationId: string, keyId: string, { name, policy }: KeyChange, now: Date) {
  const [old] = await tx<(Lookups & { policy: KeyPolicy })[]>`
    select lookup, previous_lookup as "previousLookup", policy from api_keys
    where organization_id = ${organizationId} and id = ${keyId} and revoked_at is null for update`
  if (old === undefined) return null
  const [row] = await tx<ApiKey[]>`
    update api_keys set name = ${name ?? tx`name`}, policy = ${policy === undefined ? tx`policy` : tx.json(policy)}
    where organization_id = ${organizationId} and id = ${keyId} returning ${columns(tx)}`
  const budget = policy?.budget
  if (budget && !isDeepStrictEqual(budget, old.policy.budget))
    await beginBudget(tx, organizationId, keyId, budget.period, now)
  for (const lookup of [old.lookup, old.previousLookup]) if (lookup !== null) await notifyKeyChange(tx, { lookup })
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
  rotated_at as "rotatedAt", previous_until as "previousUntil", revoked_at as "revokedAt", expires_at as "expiresAt", last_used_at as "lastUsedAt",
  case when created_by_type is not null then json_build_object('type', created_by_type, 'id', created_by_id) end as "createdBy"`
