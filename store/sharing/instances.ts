/**
 * The serving processes on one database. Each process has a row in `instances` with two facts: until which time the
 * process counts as alive, and whether it counts its leases in memory (limits.ts). To join, to leave, or to change how
 * it counts, a process takes one lock, so it sees all earlier changes. The other processes are notified of each change.
 */
import type { KeyLeases } from '../../domain/access/local-limits.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { locks } from '../postgres/advisory-locks.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import { guard } from '../postgres/outage.ts'

export type Instance = {
  /** Writes this instance's row. Returns true if no other instance is alive; then this instance counts in memory. */
  join(): Promise<boolean>
  /** Renews the row and removes dead instances' rows. */
  beat(countsInMemory: boolean): Promise<Heartbeat>
  /**
   * Counts other instances with leases in memory and with a database connection. A killed instance has no connection.
   */
  othersInMemory(): Promise<number>
  /**
   * Records that this instance counts its leases in memory. Returns false and changes nothing if another instance is
   * alive.
   */
  countInMemory(): Promise<boolean>
  /** Records that this instance stores its leases as rows, and replaces these rows. */
  countInRows(leases: readonly KeyLeases[]): Promise<void>
  /** Calls `changed` at each instance's change, and when a change may have been missed. */
  listen(changed: () => void): Promise<void>
  leave(): Promise<void>
}

export type Heartbeat = {
  /** The number of other living instances. */
  others: number
  /** False if the row had run out and was removed, or if it disagrees with `countsInMemory`. */
  isIntact: boolean
  /** True if this heartbeat removed other instances' expired rows. */
  hasRemoved: boolean
}

const channel = 'parley_instances'

/** The prefix of every connection's name. */
export const namePrefix = 'parley-'
/** Returns the name that pg_stat_activity shows for an instance's connections. */
export const applicationName = (instanceId: string) => `${namePrefix}${instanceId}`

export function createInstance(sql: Sql, clock: Clock, id: string, leaseMs: number): Instance {
  const now = () => new Date(clock.nowMs())
  const aliveUntil = () => new Date(clock.nowMs() + leaseMs)
  const isOther = (tx: Sql | Tx) => tx`id <> ${id} and alive_until > ${now()}`

  const change = <T>(run: (tx: Tx) => Promise<T>) => changeInstances(sql, run)

  return {
    join: () =>
      change(async (tx) => {
        const [row] = await tx<{ alone: boolean }[]>`
          insert into instances (id, alive_until, counts_in_memory)
          select ${id}, ${aliveUntil()}, not exists (select from instances where ${isOther(tx)})
          returning counts_in_memory as alone`
        return row?.alone ?? false
      }),
    async beat(countsInMemory) {
      const [row] = await guard(sql, {
        run: async () => sql<{ others: number; gone: number; inserted: boolean; inMemory: boolean }[]>`
        with gone as (delete from instances where alive_until <= ${now()} and id <> ${id} returning id), own as (
          insert into instances (id, alive_until, counts_in_memory) values (${id}, ${aliveUntil()}, ${countsInMemory})
          on conflict (id) do update set alive_until = excluded.alive_until
          returning xmax = 0 as inserted, counts_in_memory as "inMemory"
        )
        select inserted, "inMemory", (select count(*)::int from gone) as gone,
          (select count(*)::int from instances where ${isOther(sql)}) as others from own`,
      })
      const isIntact = row?.inserted === false && row.inMemory === countsInMemory
      return { others: row?.others ?? 0, isIntact, hasRemoved: (row?.gone ?? 0) > 0 }
    },
    async othersInMemory() {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count from instances
        where ${isOther(sql)} and counts_in_memory
          and exists (select from pg_stat_activity where application_name = ${applicationName('')} || id)`
      return row?.count ?? 0
    },
    countInMemory: () =>
      change(async (tx) => {
        const { count } = await tx`
          update instances set counts_in_memory = true
          where id = ${id} and not exists (select from instances where ${isOther(tx)})`
        if (count > 0) await tx`delete from concurrency_leases where instance_id = ${id}`
        return count > 0
      }),
    countInRows: (leases) =>
      change(async (tx) => {
        await tx`delete from concurrency_leases where instance_id = ${id}`
        await tx`
          insert into concurrency_leases (organization_id, key_id, instance_id, held, sessions)
          select "organizationId", "keyId", ${id}, held, sessions
          from json_to_recordset(${sql.json([...leases])}::json) as h
            ("organizationId" text, "keyId" text, held int, sessions int)`
        await tx`update instances set counts_in_memory = false where id = ${id}`
      }),
    async listen(changed) {
      await sql.listen(channel, changed, changed)
    },
    async leave() {
      await change((tx) => tx`delete from instances where id = ${id}`)
    },
  }
}

/** Changes the list of instances under its lock, and notifies all instances. */
function changeInstances<T>(sql: Sql, run: (tx: Tx) => Promise<T>): Promise<T> {
  return guard(sql, {
    run: (state) =>
      sql.begin(async (tx) => {
        if (state.isRefused) throw new Error('the change was refused while it waited')
        await tx`select pg_advisory_xact_lock(${locks.instances})`
        const answer = await run(tx)
        await tx`select pg_notify(${channel}, '')`
        return answer
      }) as Promise<T>,
  })
}
