/**
 * Writes all organizations' rows as they are at one moment. One transaction reads them, so the backup contains no later
 * write, and no writer waits.
 */
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import type { Sql, Tx } from '../postgres/connect.ts'
import { longWorkMsMax } from '../postgres/long-work.ts'
import { everyOrganization } from '../postgres/tenant.ts'
import { type BackupCounts, backupFormat, endOfRows } from './format.ts'
import { type TableShape, tablesOf } from './tables.ts'

const newline = 0x0a

/** `schema` is the database's schema version. */
export async function writeBackup(sql: Sql, schema: number, output: Writable): Promise<BackupCounts> {
  const counts = await sql.begin('isolation level repeatable read read only', async (tx) => {
    await tx`select set_config('app.organization', ${everyOrganization}, true), set_config('app.world', '*', true),
      set_config('statement_timeout', ${String(longWorkMsMax)}, true),
      set_config('idle_in_transaction_session_timeout', ${String(longWorkMsMax)}, true)`
    await write(output, line({ format: backupFormat, schema, createdAt: new Date().toISOString() }))
    const tables = await tablesOf(tx)
    let rows = 0
    for (const table of tables) rows += await writeTable(tx, table, output)
    return { tables: tables.length, rows }
  })
  await write(output, line(counts))
  return counts
}

async function writeTable(tx: Tx, { name, columns, counters }: TableShape, output: Writable): Promise<number> {
  await write(output, line({ table: name, columns, counters }))
  const rows: Readable = await tx`copy (select ${tx(columns)} from ${tx(name)}) to stdout`.readable()
  let count = 0
  for await (const chunk of rows as AsyncIterable<Buffer>) {
    for (const byte of chunk) if (byte === newline) count += 1
    await write(output, chunk)
  }
  await write(output, endOfRows)
  return count
}

const line = (value: unknown) => `${JSON.stringify(value)}\n`

async function write(output: Writable, content: Buffer | string): Promise<void> {
  if (!output.write(content)) await once(output, 'drain')
}
