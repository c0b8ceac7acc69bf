/**
 * Checks API keys, users' tokens and users' sessions. A checked key is remembered for a while, so requests do not wait
 * for the database. Changes arrive by NOTIFY. If notifications may have been missed, the whole cache is cleared. If a
 * key cannot be checked, it is refused.
 */
import { timingSafeEqual } from 'node:crypto'
import type { LiveKeys } from '../../domain/access/ephemeral.ts'
import type { KeyChanges, LiveCallers } from '../../domain/access/revocations.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Caller, KeyPolicy, Keys, OwnKeys, Role, Scope } from '../../domain/records/organization.ts'
import { type KeyChange, keysChannel, readKeyChange } from '../caches/key-changes.ts'
import { createLru } from '../caches/lru.ts'
import { type BatchLimits, createBatcher } from '../postgres/batch.ts'
import type { Sql } from '../postgres/connect.ts'
import { inTime, isAway } from '../postgres/outage.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { isUnreachable } from '../postgres/unavailable.ts'
import { apiKeyColumns, credentialColumns, previousSecretColumns, roleColumns } from './caller-columns.ts'
import { type Digested, readCredential, readSecret } from './key-secret.ts'
import { type KeyCacheLimits, KnownCallers } from './known-callers.ts'

/**
 * Reads a stored policy, even if an earlier server version wrote it. Never throws: `dropped` names the unreadable
 * fields.
 */
export type ReadStoredPolicy = (stored: unknown) => { policy: KeyPolicy; dropped: string[] }

type Options = KeyCacheLimits & { clock: Clock; log: Log; readPolicy: ReadStoredPolicy }

export type CheckedKeys = Keys &
  KeyChanges & {
    /**
     * Forgets cached keys. Call this after this process has changed a key, because the NOTIFY arrives a little later.
     */
    forget(change: KeyChange): void
    /** Counts pending lookups. */
    waiting(): number
    /** Resolves as soon as this process receives key changes. */
    listen(): Promise<void>
    /** Writes to the database when each key, session and token was last used. */
    noteUse(): Promise<void>
  }

type Row = {
  lookup: string
  digest: Buffer
  keyId: string
  organizationId: string
  organizationName: string
  maxConcurrency: number | null
  isDisabled: boolean
  ownKeys: OwnKeys
  scopes: Scope[]
  /** Null for an API key. */
  role: Role | null
  policy: unknown
  test: boolean
  expiresAt: Date | null
}

const batches: BatchLimits = { rowsMax: 256, gatherMs: 0, idleGatherMs: 0, queueMax: 10_000 }
/**
 * The longest time to remember an unknown key. Unknown keys have a separate cache, so unknown keys never displace known
 * keys.
 */
const unknownMsMax = 2_000

type Watcher = (organizationId: string | null) => void

export function createKeys(sql: Sql, options: Options): CheckedKeys {
  const { clock, keyCacheMs, keyCacheMax } = options
  const known = new KnownCallers(options, clock)
  const unknown = createLru<number>(keyCacheMax)
  const lookups = createBatcher((batch: readonly string[]) => inTime(sql, () => readKeys(sql, batch)), batches)
  const used = new Map<string, { organizationId: string; keyId: string }>()
  /** The look-up values of sessions and tokens that were used. */
  const seen = new Set<string>()
  const watchers: Watcher[] = []
  // Counts key changes. If a change arrives during a lookup, the lookup may have read the old state, so the lookup's
  // result is not cached.
  let changes = 0

  function forget(change: KeyChange): void {
    changes += 1
    known.forget(change)
    if ('lookup' in change) unknown.delete(change.lookup)
    else if ('all' in change) unknown.clear()
    if (!('lookup' in change)) notify(watchers, 'organizationId' in change ? change.organizationId : null)
  }

  function missed(): void {
    changes += 1
    known.missed()
    unknown.clear()
    notify(watchers, null)
  }

  async function load(presented: Digested): Promise<Caller | null> {
    const changesBefore = changes
    const rows = await lookups.add(presented.lookup)
    const nowMs = clock.nowMs()
    const row = rows.find(({ digest }) => timingSafeEqual(digest, presented.digest))
    if (!row || hasExpired(row, nowMs)) {
      known.drop(presented)
      if (changes === changesBefore) unknown.set(presented.lookup, nowMs + Math.min(keyCacheMs, unknownMsMax))
      return null
    }
    const caller = presenterOf(row, options)
    if (changes === changesBefore)
      known.remember({ lookup: presented.lookup, digest: row.digest }, caller, row.expiresAt)
    if (row.role !== null && seen.size < keyCacheMax) seen.add(row.lookup)
    else if (used.size < keyCacheMax) used.set(row.keyId, { organizationId: row.organizationId, keyId: row.keyId })
    return caller
  }

  async function loadOrKept(presented: Digested): Promise<Caller | null> {
    try {
      return await load(presented)
    } catch (error) {
      const caller = isUnreachable(error) ? known.kept(presented) : null
      if (caller === null) throw error
      return caller
    }
  }

  return {
    verify(secret) {
      const presented = readSecret(secret) ?? readCredential(secret)
      if (!presented) return null
      const caller = known.fresh(presented)
      if (caller !== null) return caller
      if ((unknown.get(presented.lookup) ?? 0) > clock.nowMs()) return null
      return (isAway(sql) && known.kept(presented)) || loadOrKept(presented)
    },
    forget,
    watch: (changed) => void watchers.push(changed),
    waiting: () => lookups.waiting(),
    async listen() {
      await sql.listen(keysChannel, (payload) => forget(readKeyChange(payload)), missed)
    },
    async noteUse() {
      const [keys, lookups, now] = [[...used.values()], [...seen], new Date(clock.nowMs())]
      for (const noted of [used, seen]) noted.clear()
      await Promise.all([markUsed(sql, keys, now), markSeen(sql, lookups, now)])
    },
  }
}

function notify(watchers: readonly Watcher[], organizationId: string | null): void {
  for (const changed of watchers) changed(organizationId)
}

/**
 * Finds keys and users by id, for code without the secret. It reads the database each time, so a revoked key is refused
 * at once.
 */
export function createLiveKeys(tenancy: Tenancy, options: Options): LiveKeys & LiveCallers {
  const read = (organizationId: string, keyIds: readonly string[]) =>
    tenancy.asOrganization(organizationId, async (tx) => {
      const [ids, now] = [arrayLiteral(keyIds), new Date(options.clock.nowMs())]
      const rows = await tx<Row[]>`
        select ${apiKeyColumns(tx)} from api_keys k join organizations o on o.id = k.organization_id
        where k.organization_id = ${organizationId} and k.id = any(${ids}::text[]) and k.revoked_at is null
        union all
        select ${previousSecretColumns(tx)} from api_keys k join organizations o on o.id = k.organization_id
        where k.organization_id = ${organizationId} and k.id = any(${ids}::text[]) and k.revoked_at is null
          and k.previous_lookup is not null
        union all
        select ${roleColumns(tx)} from user_roles r join organizations o on o.id = r.organization_id
        left join user_credentials c on c.organization_id = r.organization_id and c.user_id = r.user_id
          and c.expires_at > ${now}
        where r.organization_id = ${organizationId} and r.user_id = any(${ids}::text[])`
      return rows.filter((row) => !hasExpired(row, now.getTime()))
    })
  return {
    async findEach(organizationId, keyIds) {
      const rows = await read(organizationId, keyIds)
      return rows.map((row) => presenterOf(row, options))
    },
    async find(organizationId, keyId) {
      // During a rotation the query returns a key's row twice, once for each secret. This search needs no secret, so
      // either row is right.
      const [row] = await read(organizationId, [keyId])
      return row === undefined ? null : callerOf(row, options)
    },
  }
}

const hasExpired = ({ expiresAt }: Row, nowMs: number) => expiresAt !== null && expiresAt.getTime() <= nowMs

/** Returns the API client that presents the row's secret, if the row has one. */
function presenterOf(row: Row, options: Options): Caller {
  const caller = callerOf(row, options)
  if (row.lookup === '') return caller
  return { ...caller, secret: { id: row.lookup, endsAtMs: row.expiresAt?.getTime() ?? null } }
}

function callerOf(row: Row, { log, readPolicy }: Options): Caller {
  const { policy, dropped } = readPolicy(row.policy)
  if (dropped.length > 0)
    log.warn(
      { keyId: row.keyId, fields: dropped },
      'the policy of a key has fields that cannot be read: they do not count',
    )
  return {
    organization: {
      id: row.organizationId,
      name: row.organizationName,
      maxConcurrency: row.maxConcurrency,
      ownKeys: row.ownKeys,
      isDisabled: row.isDisabled,
    },
    keyId: row.keyId,
    scopes: row.scopes,
    ...(row.role !== null && { role: row.role }),
    test: row.test,
    policy,
  }
}

async function readKeys(sql: Sql, lookups: readonly string[]): Promise<Row[][]> {
  const rows = await sql<Row[]>`
    with wanted as (select lookup from json_array_elements_text(${sql.json([...new Set(lookups)])}::json) as w (lookup))
    select ${apiKeyColumns(sql)} from wanted w
    join api_keys k on k.lookup = w.lookup and k.revoked_at is null
    join organizations o on o.id = k.organization_id
    union all
    select ${previousSecretColumns(sql)} from wanted w
    join api_keys k on k.previous_lookup = w.lookup and k.revoked_at is null
    join organizations o on o.id = k.organization_id
    union all
    select ${credentialColumns(sql)} from wanted w
    join user_credentials c on c.lookup = w.lookup
    join user_roles r on r.organization_id = c.organization_id and r.user_id = c.user_id
    join organizations o on o.id = c.organization_id`
  return lookups.map((lookup) => rows.filter((row) => row.lookup === lookup))
}

async function markUsed(sql: Sql, keys: { organizationId: string; keyId: string }[], now: Date): Promise<void> {
  if (keys.length === 0) return
  await sql`
    update api_keys k set last_used_at = ${now}
    from json_to_recordset(${sql.json(keys)}::json) as u ("organizationId" text, "keyId" text)
    where k.organization_id = u."organizationId" and k.id = u."keyId"`
}

async function markSeen(sql: Sql, lookups: readonly string[], now: Date): Promise<void> {
  if (lookups.length === 0) return
  await sql`update user_credentials set last_seen_at = ${now} where lookup = any(${arrayLiteral(lookups)}::text[])`
}
