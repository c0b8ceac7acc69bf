import type postgres from 'postgres'
import { locks } from '../postgres/advisory-locks.ts'
import type { Sql } from '../postgres/connect.ts'
import { asksUntil, longWorkMsMax } from '../postgres/long-work.ts'

/** A connection reserved for one task. */
export type Connection = postgres.ReservedSql<{ bigint: number }>

/**
 * Runs `work` while no other process changes the schema. The lock belongs to the connection and not to a transaction,
 * because `create index concurrently` cannot run in a transaction. Each statement may take `longWorkMsMax`.
 */
export async function withUpgradeLock(
  sql: Sql,
  progress: (message: string) => void,
  work: (connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await sql.reserve()
  try {
    const [before] = await connection<[{ timeout: string }]>`select current_setting('statement_timeout') as timeout`
    await connection`select set_config('statement_timeout', ${String(longWorkMsMax)}, false)`
    try {
      await takeLock(connection, progress)
      await work(connection)
    } finally {
      // If the connection was lost, the lock is gone too, so an error here is ignored.
      await connection`
        select pg_advisory_unlock(${locks.upgrade}), set_config('statement_timeout', ${before.timeout}, false)`.catch(
        () => {},
      )
    }
  } finally {
    connection.release()
  }
}

/**
 * Polls for the lock. A statement would hold a snapshot while it waits, and the lock owner's `create index
 * concurrently` waits for all snapshots. So both would wait for ever.
 */
async function takeLock(connection: Connection, progress: (message: string) => void): Promise<void> {
  const isTaken = async () => {
    const [row] = await connection<[{ taken: boolean }]>`select pg_try_advisory_lock(${locks.upgrade}) as taken`
    return row.taken
  }
  if (!(await asksUntil(isTaken, () => progress('waiting for another process that prepares the schema'))))
    throw new Error('Another process has been preparing the schema for four hours: look what it does, and start again.')
}
