/**
 * The processes that serve from one database. Each has a row in `instances`: it is alive until the time in its row,
 * and it says whether it counts its leases in memory (limits.ts). Changes of that, arrivals and departures take one
 * lock, so that each sees the ones before it, and are notified.
 */
import type { HeldLeases } from '../../domain/access/local-limits.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Sql, Tx } from '../postgres/connect.ts'

export type Instance = {
  /** Writes the row. True: no other instance is alive, and this one counts in memory. */
  join(): Promise<boolean>
  /** Renews the row and removes those of the dead. */
  beat(countsInMemory: boolean): Promise<Heartbeat>
  /** Others that count in memory and are connected to the database: one that was killed is not connected. */
  othersInMemory(): Promise<number>
  /** False: another instance is alive, and nothing was changed. */
  countInMemory(): Promise<boolean>
  /** Replaces this instance's rows of leases. */
  countInRows(held: readonly HeldLeases[]): Promise<void>
  /** Calls back at each change of any instance, and whenever one may have been missed. */
  listen(changed: () => void): Promise<void>
  leave(): Promise<void>
}

export type Heartbeat = {
  /** Other instances that are alive. */
  others: number
  /** False: the row had run out and was removed, or it says otherwise than `countsInMemory`. */
  isIntact: boolean
  /** Rows of other instances had run out, and this heartbeat removed them. */
  hasRemoved: boolean
}

const channel = 'parley_instances'
/** Any number that nothing else in the database takes as an advisory lock. */
const lock = 7_275_539_004

/** Begins the name of every connection of ours. */
export const namePrefix = 'parley-'
/** pg_stat_activity shows it for each connection of the instance. */
export const applicationName = (instanceId: string) => `${namePrefix}${instanceId}`

export function createInstance(sql: Sql, clock: Clock, id: string, leaseMs: number): Instance {
  const now = () => new Date(clock.nowMs())
  const aliveUntil = () => new Date(clock.nowMs() + leaseMs)
  const isOther = (tx: Sql | Tx) => tx`id <> ${id} and alive_until > ${now()}`

  function change<T>(run: (tx: Tx) => Promise<T>): Promise<T> {
    return sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${lock})`
      const answer = await run(tx)
      await tx`select pg_notify(${channel}, '')`
      return answer
    }) as Promise<T>
  }

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
      const [row] = await sql<{ others: number; gone: number; inserted: boolean; inMemory: boolean }[]>`
        with gone as (delete from instances where alive_until <= ${now()} and id <> ${id} returning id), own as (
          insert into instances (id, alive_until, counts_in_memory) values (${id}, ${aliveUntil()}, ${countsInMemory})
          on conflict (id) do update set alive_until = excluded.alive_until
          returning xmax = 0 as inserted, counts_in_memory as "inMemory"
        )
        select inserted, "inMemory", (select count(*)::int from gone) as gone,
          (select count(*)::int from instances where ${isOther(sql)}) as others from own`
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
    countInRows: (held) =>
      change(async (tx) => {
        await tx`delete from concurrency_leases where instance_id = ${id}`
        await tx`
          insert into concurrency_leases (organization_id, key_id, instance_id, held, sessions)
          select "organizationId", "keyId", ${id}, held, sessions
          from json_to_recordset(${sql.json([...held])}::json) as h
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
