import type { Clock } from '../domain/ports/system.ts'
import type { Sql } from './connect.ts'

/** This process among those that share the database: alive as long as its row says so. */
export type Instance = { beat(): Promise<void>; leave(): Promise<void> }

export function createInstance(sql: Sql, clock: Clock, id: string, leaseMs: number): Instance {
  return {
    async beat() {
      const nowMs = clock.nowMs()
      await sql`
        with gone as (delete from instances where alive_until <= ${new Date(nowMs)} and id <> ${id})
        insert into instances (id, alive_until) values (${id}, ${new Date(nowMs + leaseMs)})
        on conflict (id) do update set alive_until = excluded.alive_until`
    },
    async leave() {
      await sql`delete from instances where id = ${id}`
    },
  }
}
