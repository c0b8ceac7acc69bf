/** Checks that the database can write, and not only read. */
import type { Sql } from './connect.ts'
import { inTime } from './outage.ts'

/**
 * The rows take about 200 KiB, more than `work_mem`, so Postgres writes them to a temporary file. A change to a small
 * row would need no new disk space: its page exists, and write-ahead log files have a fixed size.
 */
const rowsOnDisk = 8_000

/**
 * Makes the check. It rejects if the disk is full or the database is read-only. Concurrent calls share one statement.
 */
export function createDiskCheck(sql: Sql): () => Promise<void> {
  let running: Promise<void> | null = null
  return () =>
    (running ??= checkDisk(sql).finally(() => {
      running = null
    }))
}

async function checkDisk(sql: Sql): Promise<void> {
  const [row] = await inTime(
    sql,
    async () => sql<{ isReadOnly: boolean }[]>`
    select current_setting('transaction_read_only') = 'on' as "isReadOnly", count(n) as rows
    from (select set_config('work_mem', '64', true) as kilobytes offset 0) few,
      lateral generate_series(1, ${rowsOnDisk}::int + 0 * length(few.kilobytes)) n`,
  )
  if (row?.isReadOnly !== false) throw new Error('the database is read-only')
}
