/**
 * Organizations' provider keys, sealed. Every statement names the organization. A decrypted key is cached for a while
 * under its id, and a replaced key gets a new id. So this cache needs no notification of a change. Only the
 * organization's key ids must be read again (keys.ts).
 */

import type { ProviderKeyAdministration, ProviderKeys } from '../../domain/access/provider-keys.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import { createLru } from '../caches/lru.ts'
import { type BatchLimits, createBatcher } from '../postgres/batch.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { inTime, isAway } from '../postgres/outage.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { isUnreachable } from '../postgres/unavailable.ts'
import type { SealedTable } from '../sealing/reseal.ts'
import type { Sealed, Sealer } from '../sealing/sealed.ts'
import type { KeyCacheLimits } from './known-callers.ts'

export type StoredProviderKeys = ProviderKeys &
  ProviderKeyAdministration & {
    /** Counts pending lookups. */
    waiting(): number
    /** Forgets opened keys older than `keyCacheMs`. */
    sweep(): void
  }

type Options = KeyCacheLimits & {
  sealer: () => Sealer
  clock: Clock
  /** Drops an organization's cached API keys in this process, because an entry contains provider key ids. */
  forget: (organizationId: string) => void
}

type ProviderKeyRef = { organizationId: string; provider: string; keyId: string }
type Row = { keyId: string; bytes: Buffer; sealedBy: string }
/** After `untilMs` the key is valid only while the database is unreachable. */
type Opened = { organizationId: string; apiKey: string; untilMs: number; keptUntilMs: number }

const batches: BatchLimits = { rowsMax: 256, gatherMs: 0, idleGatherMs: 0, queueMax: 10_000 }

export type ProviderKeyStore = {
  keys: StoredProviderKeys
  /** Makes the administration for another tenancy, for example for one transaction. */
  administration(tenancy: Tenancy): ProviderKeyAdministration
}

export function createProviderKeys(system: Sql, tenancy: Tenancy, options: Options): ProviderKeyStore {
  const { clock, keyCacheMs, keyCacheMax, keysKeptMs, sealer } = options
  const opened = createLru<Opened>(keyCacheMax)
  const read = (refs: readonly ProviderKeyRef[]) => inTime(system, () => readSealed(system, refs))
  const lookups = createBatcher(read, batches)

  async function load(ref: ProviderKeyRef): Promise<string | null> {
    const row = await lookups.add(ref)
    if (!row) return null
    const apiKey = sealer().open(row, placeOf(ref))
    const nowMs = clock.nowMs()
    opened.set(placeOf(ref).join(' '), {
      organizationId: ref.organizationId,
      apiKey,
      untilMs: nowMs + keyCacheMs,
      keptUntilMs: nowMs + Math.max(keyCacheMs, keysKeptMs),
    })
    return apiKey
  }

  async function loadOrKept(ref: ProviderKeyRef, { apiKey, keptUntilMs }: Opened): Promise<string | null> {
    try {
      return await load(ref)
    } catch (error) {
      if (isUnreachable(error) && keptUntilMs > clock.nowMs()) return apiKey
      throw error
    }
  }

  function forgetOrganization(organizationId: string): void {
    opened.deleteWhere((entry) => entry.organizationId === organizationId)
    options.forget(organizationId)
  }

  const administration = (on: Tenancy) => createAdministration(on, sealer, clock, forgetOrganization)

  const keys: StoredProviderKeys = {
    ...administration(tenancy),
    open(organizationId, provider, keyId) {
      const ref = { organizationId, provider, keyId }
      const hit = opened.get(placeOf(ref).join(' '))
      if (!hit) return load(ref)
      const untilMs = isAway(system) ? hit.keptUntilMs : hit.untilMs
      return untilMs > clock.nowMs() ? hit.apiKey : loadOrKept(ref, hit)
    },
    waiting: () => lookups.waiting(),
    sweep() {
      const nowMs = clock.nowMs()
      opened.deleteWhere(({ keptUntilMs }) => keptUntilMs <= nowMs)
    },
  }
  return { keys, administration }
}

function createAdministration(
  tenancy: Tenancy,
  sealer: () => Sealer,
  clock: Clock,
  changed: (organizationId: string) => void,
): ProviderKeyAdministration {
  async function change<T>(organizationId: string, run: (tx: Tx) => Promise<T>): Promise<T> {
    const answer = await tenancy.asOrganization(organizationId, async (tx) => {
      const changed = await run(tx)
      await notifyKeyChange(tx, { organizationId })
      return changed
    })
    tenancy.afterCommit(() => changed(organizationId))
    return answer
  }

  return {
    list: (organizationId) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await tx<{ provider: string; id: string }[]>`
          select provider, id from provider_keys where organization_id = ${organizationId}`
        return Object.fromEntries(rows.map(({ provider, id }) => [provider, id]))
      }),
    async put(organizationId, provider, apiKey) {
      const keyId = `pkey_${uniqueId()}`
      const sealed = sealer().seal(apiKey, placeOf({ organizationId, provider, keyId }))
      await change(organizationId, (tx) => upsert(tx, { organizationId, provider, keyId }, sealed, clock.nowMs()))
    },
    remove: (organizationId, provider) =>
      change(organizationId, async (tx) => {
        const { count } = await tx`
          delete from provider_keys where organization_id = ${organizationId} and provider = ${provider}`
        return count > 0
      }),
  }
}

/**
 * Names the row to which a sealed key is bound. The key's id serves as a version: if an older key is put back into the
 * row, it cannot be decrypted.
 */
function placeOf({ organizationId, provider, keyId }: ProviderKeyRef): string[] {
  return ['provider key', organizationId, provider, keyId]
}

async function upsert(
  tx: Tx,
  { organizationId, provider, keyId }: ProviderKeyRef,
  { bytes, sealedBy }: Sealed,
  nowMs: number,
): Promise<void> {
  await tx`
    insert into provider_keys (organization_id, provider, id, sealed, sealed_by, created_at)
    values (${organizationId}, ${provider}, ${keyId}, ${bytes}, ${sealedBy}, ${new Date(nowMs)})
    on conflict (organization_id, provider) do update set
      id = excluded.id, sealed = excluded.sealed, sealed_by = excluded.sealed_by, created_at = excluded.created_at`
}

async function readSealed(sql: Sql, refs: readonly ProviderKeyRef[]): Promise<(Row | undefined)[]> {
  const rows = await sql<(Row & ProviderKeyRef)[]>`
    select p.organization_id as "organizationId", p.provider, p.id as "keyId", p.sealed as bytes, p.sealed_by as "sealedBy"
    from json_to_recordset(${sql.json([...refs])}::json) as w ("organizationId" text, provider text, "keyId" text)
    join provider_keys p on p.organization_id = w."organizationId" and p.provider = w.provider and p.id = w."keyId"`
  return refs.map((ref) =>
    rows.find(({ organizationId, keyId }) => organizationId === ref.organizationId && keyId === ref.keyId),
  )
}

type SealedRow = Row & ProviderKeyRef

/** Lets reseal.ts seal the provider keys again after a change of the master key. */
export const sealedProviderKeys: SealedTable<SealedRow> = {
  table: 'provider_keys',
  start: { organizationId: '', provider: '', keyId: '', bytes: Buffer.alloc(0), sealedBy: '' },
  placeOf,
  read: (tx, after, names, rowsMax) => tx<SealedRow[]>`
    select organization_id as "organizationId", provider, id as "keyId", sealed as bytes, sealed_by as "sealedBy"
    from provider_keys
    where (organization_id, provider) > (${after.organizationId}, ${after.provider})
      and sealed_by = any(${names}::text[])
    order by organization_id, provider limit ${rowsMax} for update skip locked`,
  write: (tx, { organizationId, provider }, { bytes, sealedBy }) => tx`
    update provider_keys set sealed = ${bytes}, sealed_by = ${sealedBy}
    where organization_id = ${organizationId} and provider = ${provider}`,
}
