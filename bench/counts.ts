/**
 * Counts the resources used by a Parley server, for the unit costs in docs/costs.md: processor time, rows and bytes in
 * Postgres, Redis commands, TCP bytes.
 */
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { postgresPid } from '../test/process/database.ts'
import { descendants } from '../test/process/machine.ts'
import type { CountingRelay } from './counting-relay.ts'
import { cpuMs, treeCpuMs } from './process-figures.ts'

export type Counts = {
  nodeCpuMs: number
  /** The CPU time of the node's child processes, which detect voice activity. */
  childCpuMs: number
  postgresCpuMs: number
  transactions: number
  rowsWritten: number
  /** Rows written minus rows deleted. */
  rowsKept: number
  /** The bytes of all tables with their indexes. */
  storedBytes: number
  walBytes: number
  redisCommands: number
  networkBytes: number
}

export type Counted = {
  pid: number
  dataDir: string
  sql: Sql
  redisUrl: string | null
  relays: readonly CountingRelay[]
}

/** An idle Postgres process passes its counts on after ten seconds, so we wait a little longer. */
const postgresCountsMs = 11_000

export const countsOfPostgresAreIn = () => sleep(postgresCountsMs)

export async function readCounts({ pid, dataDir, sql, redisUrl, relays }: Counted): Promise<Counts> {
  const cpu = {
    nodeCpuMs: cpuMs(pid),
    childCpuMs: descendants(pid, '-child').reduce((sum, child) => sum + cpuMs(child), 0),
    postgresCpuMs: treeCpuMs(postgresPid(dataDir) ?? 0),
  }
  const networkBytes = relays.reduce((sum, relay) => sum + relay.bytes(), 0)
  const [store] = await sql<[Omit<Counts, keyof typeof cpu | 'redisCommands' | 'networkBytes'>]>`
    select xact_commit::float8 as transactions,
      (tup_inserted + tup_updated + tup_deleted)::float8 as "rowsWritten",
      (tup_inserted - tup_deleted)::float8 as "rowsKept",
      (select sum(pg_total_relation_size(oid))::float8 from pg_class
        where relkind = 'r' and relnamespace = 'public'::regnamespace) as "storedBytes",
      pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes"
    from pg_stat_database where datname = current_database()`
  return { ...cpu, ...store, networkBytes, redisCommands: await redisCommands(redisUrl) }
}

/** Returns the counts from `before` to `after`, divided by `units`. */
export function eachOf(before: Counts, after: Counts, units: number): Counts {
  const names = Object.keys(before) as (keyof Counts)[]
  return Object.fromEntries(names.map((name) => [name, (after[name] - before[name]) / units])) as Counts
}

/** Returns how many commands Redis has run, without the commands to read this number. Returns 0 without Redis. */
async function redisCommands(url: string | null): Promise<number> {
  if (url === null) return 0
  const socket = net.connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('INFO stats\r\n')
  let text = ''
  while (!/total_commands_processed:\d+\r/.test(text)) text += String((await once(socket, 'data'))[0])
  socket.destroy()
  infoCommands++
  return Number(/total_commands_processed:(\d+)/.exec(text)?.[1]) - infoCommands
}

let infoCommands = 0
