/**
 * A restore has the database for itself. Others that are connected make it refuse, and those that come later wait, or are
 * refused: a server that made its first organization meanwhile would be mixed with what is restored.
 */
import type { Sql } from '../postgres/connect.ts'
import { asksUntil } from '../postgres/long-work.ts'
import { namePrefix } from '../sharing/instances.ts'
import { BackupError } from './format.ts'

/** Any number that nothing else in the database takes as an advisory lock. */
const restoreLock = 7_275_539_002

/** `name` is that of the connections of this process. Throws BackupError where another process uses the database. */
export async function withRestoreLock<T>(sql: Sql, name: string, work: () => Promise<T>): Promise<T> {
  // The lock belongs to this connection.
  const connection = await sql.reserve()
  try {
    const [lock] = await connection<[{ taken: boolean }]>`select pg_try_advisory_lock(${restoreLock}) as taken`
    // The question comes after the lock: a process that connects later finds it taken.
    const [other] = await connection<{ name: string; address: string | null }[]>`
      select application_name as name, host(client_addr) as address from pg_stat_activity
      where datname = current_database() and application_name like ${`${namePrefix}%`} and application_name <> ${name}
      order by backend_start limit 1`
    if (!lock.taken || other !== undefined) throw new BackupError(inUse(other))
    return await work()
  } finally {
    // A connection that was lost has no lock any more.
    await connection`select pg_advisory_unlock(${restoreLock})`.catch(() => {})
    connection.release()
  }
}

/** Names the connection as pg_stat_activity shows it. One over a Unix socket has no address. */
function inUse(other?: { name: string; address: string | null }): string {
  const from = other?.address ? ` from ${other.address}` : ''
  const who = other ? ` (connected as ${other.name}${from})` : ''
  return `another process of Parley uses the database${who}: stop the servers and commands on it, and restore into an empty database.`
}

/** Called by a process that is connected and has not used the database yet. A server waits, a command is refused. */
export async function waitForRestore(
  sql: Sql,
  { prepares, progress }: { prepares: boolean; progress: (message: string) => void },
): Promise<void> {
  const isFree = async () => {
    const [row] = await sql<[{ free: boolean }]>`select pg_try_advisory_xact_lock_shared(${restoreLock}) as free`
    return row.free
  }
  const waiting = () => {
    if (!prepares)
      throw new Error('A backup is being restored into the database: run the command again when that is done.')
    progress('waiting for another process that restores a backup into the database')
  }
  if (!(await asksUntil(isFree, waiting)))
    throw new Error(
      'A backup has been restored into the database for four hours: look what `parley restore` does, and start again.',
    )
}
