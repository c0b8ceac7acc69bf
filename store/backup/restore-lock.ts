/**
 * A restore must be the database's only user. If another process is connected, the restore fails. If a process connects
 * later, it waits or fails. Otherwise a server could make its first organization among the restored rows.
 */
import { locks } from '../postgres/advisory-locks.ts'
import type { Sql } from '../postgres/connect.ts'
import { asksUntil } from '../postgres/long-work.ts'
import { namePrefix } from '../sharing/instances.ts'
import { BackupError } from './format.ts'

/**
 * Runs `work` under the restore lock. `name` is this process's application name. Throws BackupError if another process
 * uses the database.
 */
export async function withRestoreLock<T>(sql: Sql, name: string, work: () => Promise<T>): Promise<T> {
  // The lock belongs to a connection, so this connection is reserved until the work is over.
  const connection = await sql.reserve()
  try {
    const [lock] = await connection<[{ taken: boolean }]>`select pg_try_advisory_lock(${locks.restore}) as taken`
    // This query must run after the lock is taken. Then a process is either seen here or finds the lock taken.
    const [other] = await connection<{ name: string; address: string | null }[]>`
      select application_name as name, host(client_addr) as address from pg_stat_activity
      where datname = current_database() and application_name like ${`${namePrefix}%`} and application_name <> ${name}
      order by backend_start limit 1`
    if (!lock.taken || other !== undefined) throw new BackupError(inUse(other))
    return await work()
  } finally {
    // If the connection was lost, the lock is gone too, so an error here is ignored.
    await connection`select pg_advisory_unlock(${locks.restore})`.catch(() => {})
    connection.release()
  }
}

/**
 * Writes the error message. It names the other connection by its application name and, unless it is over a Unix socket,
 * its address.
 */
function inUse(other?: { name: string; address: string | null }): string {
  const from = other?.address ? ` from ${other.address}` : ''
  const who = other ? ` (connected as ${other.name}${from})` : ''
  return `another process of Parley uses the database${who}: stop the servers and commands on it, and restore into an empty database.`
}

/**
 * Waits for a running restore. Call this after connecting and before any other use of the database. A server waits; a
 * command fails.
 */
export async function waitForRestore(
  sql: Sql,
  { prepares, progress }: { prepares: boolean; progress: (message: string) => void },
): Promise<void> {
  const isFree = async () => {
    const [row] = await sql<[{ free: boolean }]>`select pg_try_advisory_xact_lock_shared(${locks.restore}) as free`
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
