/**
 * Leases shared by several instances. A row has the number of leases held by one instance. If the instance has no
 * heartbeat, its rows do not count.
 */
import type { ConcurrencyLimits, LeaseKind, LeaseRefusal } from '../../domain/access/limits.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { type BatchLimits, createBatcher } from '../postgres/batch.ts'
import type { Sql } from '../postgres/connect.ts'
import { guard, inTime } from '../postgres/outage.ts'

const batches: BatchLimits = { rowsMax: 128, gatherMs: 0, idleGatherMs: 0, queueMax: 10_000 }

export type LeaseRows = {
  /** Acquires a lease. Resolves with null if it is granted. */
  acquire(
    organizationId: string,
    keyId: string,
    limits: ConcurrencyLimits,
    kind: LeaseKind,
  ): Promise<LeaseRefusal | null>
  /** Returns one lease a little later, in a batch. */
  end(organizationId: string, keyId: string, kind: LeaseKind): void
  /** Counts unfinished calls to `acquire`. */
  waiting(): number
  /** Resolves when no statement for `acquire` or `end` is under way. */
  settle(): Promise<void>
  /** Drops ended leases that are not written yet. */
  forgetEnds(): void
  /** Writes ended leases that are not written yet. */
  writeEnds(): Promise<void>
  /** Removes dead instances' leases. */
  sweep(): Promise<void>
}

/** Acquires and ends leases, through Postgres or through Redis. */
export type LeaseStatements = {
  /**
   * Acquires leases. A result is null if the lease is granted. After a rejection, `late` is called if the leases may
   * have been stored nevertheless.
   */
  acquireAll(asks: readonly Ask[], late: () => void): Promise<(LeaseRefusal | null)[]>
  endAll(ends: readonly Ends[]): Promise<void>
  /** Removes dead instances' leases. */
  sweep(): Promise<void>
}

export type Ask = { organizationId: string; keyId: string; isSession: boolean } & ConcurrencyLimits
/** `count` leases have ended, and `sessions` among them belonged to sessions. */
export type Ends = { organizationId: string; keyId: string; count: number; sessions: number }

/** Stores leases in the database, with a row for each instance and each key with leases. */
export function createSqlLeases(sql: Sql, clock: Clock, instanceId: string): LeaseStatements {
  const now = () => new Date(clock.nowMs())
  return {
    acquireAll: (asks, late) => inTime(sql, () => acquireAll(sql, asks, instanceId, now()), late),
    endAll: (ends) => guard(sql, { run: () => endAll(sql, ends, instanceId) }),
    sweep: () => removeOfTheDead(sql, now()),
  }
}

/**
 * Makes the lease rows. Ended leases are written only while `mayWrite` returns true. `failed` is called if the result
 * of a write is unknown.
 */
export function createLeaseRows(
  statements: LeaseStatements,
  log: Log,
  mayWrite: () => boolean,
  failed: () => void,
): LeaseRows {
  const asks = createBatcher((rows: readonly Ask[]) => statements.acquireAll(rows, failed), batches)
  // Ended leases are added up by key, so the map stays small even if the database is unreachable for long.
  let ends = new Map<string, Ends>()
  let writing: Promise<void> | null = null

  function add({ organizationId, keyId, count, sessions }: Ends): void {
    const scope = `${organizationId} ${keyId}`
    const before = ends.get(scope) ?? { count: 0, sessions: 0 }
    ends.set(scope, { organizationId, keyId, count: count + before.count, sessions: sessions + before.sessions })
  }

  async function writeAll(): Promise<void> {
    await new Promise(setImmediate) // More leases may end in the same tick.
    try {
      while (ends.size > 0 && mayWrite()) await writeOnce()
    } catch (err) {
      failed()
      log.warn({ err }, 'ended leases could not be written, it is tried again')
    } finally {
      writing = null
    }
  }

  async function writeOnce(): Promise<void> {
    const rows = [...ends.values()]
    ends = new Map()
    try {
      await statements.endAll(rows)
    } catch (error) {
      for (const row of rows) add(row)
      throw error
    }
  }

  const writeEnds = () => (writing ??= writeAll())

  return {
    acquire: (organizationId, keyId, limits, kind) =>
      asks.add({ organizationId, keyId, isSession: kind === 'session', ...limits }),
    waiting: () => asks.waiting(),
    end(organizationId, keyId, kind) {
      add({ organizationId, keyId, count: 1, sessions: kind === 'session' ? 1 : 0 })
      void writeEnds()
    },
    async settle() {
      await asks.drain()
      await writing
    },
    forgetEnds() {
      ends = new Map()
    },
    async writeEnds() {
      if (ends.size > 0 || writing) await writeEnds()
    },
    sweep: () => statements.sweep(),
  }
}

async function acquireAll(
  sql: Sql,
  asks: readonly Ask[],
  instanceId: string,
  now: Date,
): Promise<(LeaseRefusal | null)[]> {
  const rows = await sql<{ index: number; refusal: LeaseRefusal | null }[]>`
    select index,
      acquire_lease("organizationId", "keyId", ${instanceId}, "organizationMax", "keyMax", ${now}, "isSession") as refusal
    from (
      select * from json_to_recordset(${sql.json(asks.map((ask, index) => ({ ...ask, index })))}::json) as a
        (index int, "organizationId" text, "keyId" text, "organizationMax" int, "keyMax" int, "isSession" boolean)
      order by "organizationId", index
    ) asked`
  const refusals = new Map(rows.map(({ index, refusal }) => [index, refusal]))
  return asks.map((_, index) => refusals.get(index) ?? null)
}

async function endAll(sql: Sql, rows: readonly Ends[], instanceId: string): Promise<void> {
  // Updates in the same order as acquire_lease. Otherwise the two statements could wait for each other.
  const inOrder = [...rows].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1))
  await sql`
    update concurrency_leases l set held = greatest(l.held - e.count, 0), sessions = greatest(l.sessions - e.sessions, 0)
    from json_to_recordset(${sql.json(inOrder)}::json) as e
      ("organizationId" text, "keyId" text, count int, sessions int)
    where l.organization_id = e."organizationId" and l.key_id = e."keyId" and l.instance_id = ${instanceId}`
}

async function removeOfTheDead(sql: Sql, now: Date): Promise<void> {
  await sql`
    delete from concurrency_leases l
    where not exists (select from instances i where i.id = l.instance_id and i.alive_until > ${now})`
}
