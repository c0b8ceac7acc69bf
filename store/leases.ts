/** Concurrency that several processes share: how much each holds is a row, and the rows of a process without a heartbeat do not count. */
import type { ConcurrencyLimits, EndLease, LeaseRefusal, Limits } from '../domain/access/limits.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import { type BatchLimits, createBatcher } from './batch.ts'
import type { Sql } from './connect.ts'

const batches: BatchLimits = { rowsMax: 128, inFlightMax: 1, gatherMs: 0, loneMs: 0, queueMax: 10_000 }

export type StoredLeases = Limits & {
  /** Writes ends that could not be written before, and removes what dead processes held. */
  sweep(): Promise<void>
  drain(): Promise<void>
}

type Ask = { organizationId: string; keyId: string } & ConcurrencyLimits
type Ended = { organizationId: string; keyId: string; count: number }

export function createLeases(sql: Sql, clock: Clock, log: Log, instanceId: string): StoredLeases {
  const asks = createBatcher(
    (rows: readonly Ask[]) => acquireAll(sql, rows, instanceId, new Date(clock.nowMs())),
    batches,
  )
  // Added up per key, so that it stays small however long the database is away.
  let ended = new Map<string, Ended>()
  let writing: Promise<void> | null = null

  function end(organizationId: string, keyId: string, count: number): void {
    const scope = `${organizationId} ${keyId}`
    ended.set(scope, { organizationId, keyId, count: count + (ended.get(scope)?.count ?? 0) })
  }

  async function writeEnded(): Promise<void> {
    await new Promise(setImmediate) // More may end in the same turn.
    try {
      while (ended.size > 0) await writeOnce()
    } catch (err) {
      log.warn({ err }, 'ended leases could not be written, it is tried again')
    } finally {
      writing = null
    }
  }

  async function writeOnce(): Promise<void> {
    const rows = [...ended.values()]
    ended = new Map()
    try {
      await endAll(sql, rows, instanceId)
    } catch (error) {
      for (const { organizationId, keyId, count } of rows) end(organizationId, keyId, count)
      throw error
    }
  }

  const flush = () => (writing ??= writeEnded())

  return {
    async acquire(organizationId, keyId, limits): Promise<EndLease | LeaseRefusal> {
      const refusal = await asks.add({ organizationId, keyId, ...limits })
      if (refusal) return refusal
      let held = true
      return () => {
        if (!held) return
        held = false
        end(organizationId, keyId, 1)
        void flush()
      }
    },
    async sweep() {
      if (ended.size > 0) await flush()
      await removeOfTheDead(sql, new Date(clock.nowMs()))
    },
    async drain() {
      await asks.drain()
      if (ended.size > 0 || writing) await flush()
    },
  }
}

async function acquireAll(
  sql: Sql,
  asks: readonly Ask[],
  instanceId: string,
  now: Date,
): Promise<(LeaseRefusal | null)[]> {
  const rows = await sql<{ index: number; refusal: LeaseRefusal | null }[]>`
    select index, acquire_lease("organizationId", "keyId", ${instanceId}, "organizationMax", "keyMax", ${now}) as refusal
    from (
      select * from json_to_recordset(${sql.json(asks.map((ask, index) => ({ ...ask, index })))}::json) as a
        (index int, "organizationId" text, "keyId" text, "organizationMax" int, "keyMax" int)
      order by "organizationId", index
    ) asked`
  const refusals = new Map(rows.map(({ index, refusal }) => [index, refusal]))
  return asks.map((_, index) => refusals.get(index) ?? null)
}

async function endAll(sql: Sql, rows: readonly Ended[], instanceId: string): Promise<void> {
  // In the order in which acquire_lease locks, or the two could wait for each other.
  const inOrder = [...rows].sort((a, b) => (a.organizationId < b.organizationId ? -1 : 1))
  await sql`
    update concurrency_leases l set held = greatest(l.held - e.count, 0)
    from json_to_recordset(${sql.json(inOrder)}::json) as e ("organizationId" text, "keyId" text, count int)
    where l.organization_id = e."organizationId" and l.key_id = e."keyId" and l.instance_id = ${instanceId}`
}

async function removeOfTheDead(sql: Sql, now: Date): Promise<void> {
  await sql`
    delete from concurrency_leases l
    where not exists (select from instances i where i.id = l.instance_id and i.alive_until > ${now})`
}
