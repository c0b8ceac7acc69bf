/**
 * Idempotency keys as rows. Every write is batched and fenced by the request id: if another request took the key over,
 * the earlier request changes nothing.
 *
 * ```
 *            admit            dispatch             settle (ledger.ts)
 *   (none) ────────► admitted ────────► dispatched ────────► succeeded | failed ──► expired = (none)
 *      ▲               │   ▲ └ lease ran out, same hash: another request takes it over
 *      └───────────────┴───┘ release (also from dispatched, when no byte went out)
 * ```
 *
 * This process also keeps its own keys in memory, and answers a second copy of a request from memory. So a statement
 * never contains one key twice (ON CONFLICT DO UPDATE refuses that), and two hundred copies cost one row. Batches are
 * sorted by key, because otherwise two batches could wait for each other.
 *
 * Times come from this process's clock, because tests can move it. If processes share a database, their clocks must
 * differ by less than the lease.
 */
import type { Idempotency, KeyAdmission, KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type BatchLimits, createBatcher } from '../postgres/batch.ts'
import type { Sql } from '../postgres/connect.ts'
import { inTime } from '../postgres/outage.ts'
import { undoneWrites } from '../postgres/undone.ts'
import { ofUses, ownedBy } from './key-match.ts'

export type IdempotencyLimits = {
  /** If a process stops renewing an admitted key, no other request gets the key for this long. */
  leaseMs: number
  /** For this long a repeated request is refused with request_already_started. */
  retentionMs: number
}

export type StoredIdempotency = Idempotency & {
  /** Renews the leases for admitted requests that are not dispatched yet. */
  renew(): Promise<void>
  /**
   * Stores the keys of served requests again. Postgres confirms keys before they are on the disk, so the newest keys
   * may be lost if it is killed.
   */
  restore(uses: readonly KeyUse[]): Promise<void>
  /** Deletes expired rows, at most `reapRowsMax` at a time. */
  reap(): Promise<void>
  drain(): Promise<void>
  /** Counts the rows in unfinished statements. */
  waiting(): number
}

const batches: BatchLimits = { rowsMax: 256, gatherMs: 2, idleGatherMs: 0, queueMax: 10_000 }
const reapRowsMax = 1_000
const reapRoundsMax = 50
/** If a request is neither dispatched nor released after 60 renewals, it counts as abandoned. */
const renewalsMax = 60

/** A key to be inserted, and its row's first status. */
type Arrival = { use: KeyUse; as: 'admitted' | 'dispatched' }

/** A key in this process, during and after its admission. */
type Holding = {
  use: KeyUse
  scope: string
  admitted: boolean
  pendingAdmission: Promise<unknown>
  renewAtMs: number
  renewals: number
}
/** A stored key with its status. */
type StoredKey = KeyUse & { status: string }

const inProgress: KeyAdmission = { outcome: 'in_progress', retryAfterS: 1 }

export function createIdempotency(
  sql: Sql,
  clock: Clock,
  { leaseMs, retentionMs }: IdempotencyLimits,
): StoredIdempotency {
  const holdings = new Map<string, Holding>()
  const timesNow = () => timesAt(clock.nowMs(), leaseMs, retentionMs)
  const { admissions, dispatches, releases, undone } = createWrites(sql, clock, timesNow)

  const waiting = () => admissions.waiting() + dispatches.waiting() + releases.waiting()

  async function admit(use: KeyUse, as: Arrival['as'] = 'admitted'): Promise<KeyAdmission> {
    const scope = scopeOf(use)
    for (let existing = holdings.get(scope); existing; existing = holdings.get(scope)) {
      if (existing.use.contentHash === use.contentHash) return inProgress
      if (existing.admitted) return { outcome: 'conflict', originalRequestId: existing.use.requestId }
      // The two requests differ in content. The database may have a row with the second request's content, and then it
      // refuses the first request. So the second request waits for the first request's result.
      await existing.pendingAdmission.catch(() => {})
    }
    const pendingAdmission = admissions.add({ use, as })
    const holding: Holding = {
      use,
      scope,
      admitted: false,
      pendingAdmission,
      renewAtMs: clock.nowMs() + leaseMs / 2,
      renewals: 0,
    }
    holdings.set(scope, holding)
    try {
      const admission = await pendingAdmission
      holding.admitted = admission.outcome === 'admitted'
      return admission
    } finally {
      // A dispatched key needs no renewal, so this process forgets it.
      if (!holding.admitted || as === 'dispatched') holdings.delete(scope)
    }
  }

  /** Forgets the key in memory, unless another request has taken the key over. */
  function letGo(use: KeyUse): void {
    const scope = scopeOf(use)
    if (holdings.get(scope)?.use.requestId === use.requestId) holdings.delete(scope)
  }

  async function renew(): Promise<void> {
    await undone.run()
    const nowMs = clock.nowMs()
    const due = [...holdings.values()].filter(({ admitted, renewAtMs }) => admitted && renewAtMs <= nowMs)
    for (const { use } of due.filter(({ renewals }) => renewals >= renewalsMax)) letGo(use)
    const renewed = due.filter(({ renewals }) => renewals < renewalsMax)
    if (renewed.length === 0) return
    await extendLeases(
      sql,
      renewed.map(({ use }) => use),
      new Date(nowMs + leaseMs),
    )
    for (const holding of renewed) {
      holding.renewAtMs = nowMs + leaseMs / 2
      holding.renewals += 1
    }
  }

  return {
    admit,
    dispatch: (use) => dispatches.add(use).finally(() => letGo(use)),
    release: (use) => releases.add(use).finally(() => letGo(use)),
    renew,
    restore: (uses) => restoreAll(sql, uses, timesNow()),
    waiting,
    reap: () => reapExpired(sql, clock),
    async drain() {
      await Promise.all([admissions.drain(), dispatches.drain(), releases.drain()])
    },
  }
}

function createWrites(sql: Sql, clock: Clock, timesNow: () => Times) {
  // If an admission was refused at its deadline, Postgres may still store its idempotency key later. The key is then
  // released, because the client's repeated request would be refused too.
  const undone = undoneWrites(
    sql,
    clock,
    ({ requestId }: KeyUse) => requestId,
    (uses) => releaseAll(sql, uses),
  )
  const admissions = createBatcher((arrivals: readonly Arrival[]) => {
    const uses = arrivals.map(({ use }) => use)
    return undone.write(uses, () => admitAll(sql, arrivals, timesNow()))
  }, batches)
  const dispatches = createBatcher(
    (uses: readonly KeyUse[]) => inTime(sql, () => dispatchAll(sql, uses, clock.nowMs())),
    batches,
  )
  const releases = createBatcher((uses: readonly KeyUse[]) => undone.undo(uses), batches)
  return { admissions, dispatches, releases, undone }
}

async function admitAll(sql: Sql, arrivals: readonly Arrival[], times: Times): Promise<KeyAdmission[]> {
  const uses = arrivals.map(({ use }) => use)
  const rows = await insertOrTakeOver(sql, arrivals, times)
  const admitted = new Set(rows.map(({ requestId }) => requestId))
  const refused = uses.filter(({ requestId }) => !admitted.has(requestId))
  const stored = refused.length === 0 ? [] : await readStored(sql, refused)
  const onRecord = new Map(stored.map((row) => [scopeOf(row), row]))
  // If a key has no row, the request that held the key released it between the two statements. The outcome is then
  // `in_progress`: the client sends its request again, and finds the key free.
  return uses.map((use) =>
    admitted.has(use.requestId) ? { outcome: 'admitted' } : verdict(use, onRecord.get(scopeOf(use))),
  )
}

const scopeOf = ({ organizationId, operation, keyDigest }: KeyUse) => `${organizationId} ${operation} ${keyDigest}`

/** Every statement inserts its keys in this order. Otherwise two statements could wait for each other. */
function byKey(a: KeyUse, b: KeyUse): number {
  return order(a.organizationId, b.organizationId) || order(a.operation, b.operation) || order(a.keyDigest, b.keyDigest)
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function verdict(use: KeyUse, row: StoredKey | undefined): KeyAdmission {
  if (row === undefined) return inProgress
  if (row.contentHash !== use.contentHash) return { outcome: 'conflict', originalRequestId: row.requestId }
  return row.status === 'admitted' ? inProgress : { outcome: 'already_started', originalRequestId: row.requestId }
}

type Times = { now: Date; lease: Date; expiry: Date }

function timesAt(nowMs: number, leaseMs: number, retentionMs: number): Times {
  return { now: new Date(nowMs), lease: new Date(nowMs + leaseMs), expiry: new Date(nowMs + retentionMs) }
}

/**
 * Inserts a single key with a plain INSERT. The key is nearly always new, a request waits for it, and the plain INSERT
 * needs only two thirds of the general statement's time.
 */
async function insertOrTakeOver(
  sql: Sql,
  arrivals: readonly Arrival[],
  times: Times,
): Promise<readonly { requestId: string }[]> {
  const [first] = arrivals
  if (first && arrivals.length === 1 && (await insertNew(sql, first, times))) return [first.use]
  return insertOrTakeOverAll(sql, arrivals, times)
}

async function insertNew(sql: Sql, { use, as }: Arrival, { now, lease, expiry }: Times): Promise<boolean> {
  const { organizationId, operation, keyDigest, contentHash, requestId } = use
  const dispatchedAt = as === 'dispatched' ? now : null
  const values = [organizationId, operation, keyDigest, contentHash, requestId, as, now, dispatchedAt, lease, expiry]
  const { count } = await sql.unsafe(newKey, values, { prepare: true })
  return count === 1
}

/** The statement is a constant text, because a template would be built again for each request. */
const newKey = `
  insert into idempotency_keys (organization_id, operation, key_digest, content_hash, request_id, status, admitted_at,
    dispatched_at, lease_until, expires_at)
  values ($1, $2, decode($3, 'hex'), decode($4, 'hex'), $5, $6, $7, $8, $9, $10)
  on conflict do nothing`

function insertOrTakeOverAll(
  sql: Sql,
  arrivals: readonly Arrival[],
  { now, lease, expiry }: Times,
): Promise<{ requestId: string }[]> {
  const rows = arrivals.map(({ use, as }) => ({ as, ...use })).sort(byKey)
  return sql<{ requestId: string }[]>`
    insert into idempotency_keys as k (organization_id, operation, key_digest, content_hash, request_id, status, admitted_at,
      dispatched_at, lease_until, expires_at)
    select "organizationId", operation, decode("keyDigest", 'hex'), decode("contentHash", 'hex'), "requestId", "as", ${now},
      case when "as" = 'dispatched' then ${now}::timestamptz end, ${lease}, ${expiry}
    from json_to_recordset(${sql.json(rows)}::json) as u
      ("organizationId" text, operation text, "keyDigest" text, "contentHash" text, "requestId" text, "as" text)
    on conflict (organization_id, operation, key_digest) do update set
      content_hash = excluded.content_hash, request_id = excluded.request_id, status = excluded.status, admitted_at = ${now},
      dispatched_at = excluded.dispatched_at, finished_at = null, answer_status = null, answer_body = null,
      lease_until = ${lease}, expires_at = ${expiry}
    where k.expires_at <= ${now}
      or (k.status = 'admitted' and k.lease_until <= ${now} and k.content_hash = excluded.content_hash)
    returning k.request_id as "requestId"`
}

/** Changes no stored key: another request may have it by now. */
async function restoreAll(sql: Sql, uses: readonly KeyUse[], { now, lease, expiry }: Times): Promise<void> {
  if (uses.length === 0) return
  await sql`
    insert into idempotency_keys (organization_id, operation, key_digest, content_hash, request_id, status, admitted_at,
      dispatched_at, lease_until, expires_at)
    select "organizationId", operation, decode("keyDigest", 'hex'), decode("contentHash", 'hex'), "requestId",
      'dispatched', ${now}, ${now}, ${lease}, ${expiry}
    from json_to_recordset(${sql.json([...uses])}::json) as u
      ("organizationId" text, operation text, "keyDigest" text, "contentHash" text, "requestId" text)
    on conflict do nothing`
}

function readStored(sql: Sql, uses: readonly KeyUse[]): Promise<StoredKey[]> {
  return sql<StoredKey[]>`
    select organization_id as "organizationId", operation, encode(key_digest, 'hex') as "keyDigest",
      encode(content_hash, 'hex') as "contentHash", status, request_id as "requestId"
    from idempotency_keys k where ${ofUses(sql, uses)}`
}

async function dispatchAll(sql: Sql, uses: readonly KeyUse[], nowMs: number): Promise<boolean[]> {
  const rows = await sql<{ requestId: string }[]>`
    update idempotency_keys k set status = 'dispatched', dispatched_at = ${new Date(nowMs)}
    where ${ofUses(sql, uses)} and ${ownedBy(sql, uses)} and k.status = 'admitted'
    returning k.request_id as "requestId"`
  const won = new Set(rows.map(({ requestId }) => requestId))
  return uses.map(({ requestId }) => won.has(requestId))
}

async function releaseAll(sql: Sql, uses: readonly KeyUse[]): Promise<undefined[]> {
  await sql`
    delete from idempotency_keys k
    where ${ofUses(sql, uses)} and ${ownedBy(sql, uses)} and k.status in ('admitted', 'dispatched')`
  return uses.map(() => undefined)
}

async function extendLeases(sql: Sql, uses: readonly KeyUse[], lease: Date): Promise<void> {
  await sql`
    update idempotency_keys k set lease_until = ${lease}
    where ${ofUses(sql, uses)} and ${ownedBy(sql, uses)} and k.status = 'admitted'`
}

/** Deletes in small rounds, so no lock is held for long. A row locked by another process is left for the next run. */
async function reapExpired(sql: Sql, clock: Clock): Promise<void> {
  for (let round = 0; round < reapRoundsMax; round += 1) {
    const { count } = await sql`
      delete from idempotency_keys where ctid = any (array(
        select ctid from idempotency_keys where expires_at <= ${new Date(clock.nowMs())}
        order by expires_at limit ${reapRowsMax} for update skip locked))`
    if (count < reapRowsMax) return
  }
}
