/** A backup as a file. It appears whole or not at all, and only the user of this process can read it. */
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { nanoid } from 'nanoid'
import { type DatabaseOptions, type OpenDatabase, openDatabase } from '../database.ts'
import { applicationName } from '../instances.ts'
import { readSchemaVersion } from '../migrations/migrate.ts'
import { type BackupCounts, BackupError, type BackupHeader } from './format.ts'
import { restoreBackup } from './restore-backup.ts'
import { writeBackup } from './write-backup.ts'

export type BackupResult = BackupCounts & { schema: number }

const fileMode = 0o600

/** Writes all that the database holds into `file`, and replaces an older file of that name. Others go on working. */
export function backUp(options: Omit<DatabaseOptions, 'prepares'>, file: string): Promise<BackupResult> {
  return withDatabase({ ...options, prepares: false }, async ({ pools }) => {
    const schema = await readSchemaVersion(pools.tenant)
    if (schema === 0) throw new BackupError('the database has no tables of Parley')
    // In the same folder, so that the new name costs no copy.
    const unfinished = `${file}.unfinished-${nanoid(6)}`
    try {
      const counts = await writeFile(unfinished, (output) => writeBackup(pools.tenant, schema, output))
      await rename(unfinished, file)
      return { schema, ...counts }
    } catch (error) {
      await rm(unfinished, { force: true })
      throw error
    }
  })
}

/** Makes the schema. Throws BackupError for a database that is in use, and for a file that is not a whole backup. */
export function restore(
  options: Omit<DatabaseOptions, 'prepares'>,
  file: string,
): Promise<BackupHeader & BackupCounts> {
  return withDatabase({ ...options, prepares: true }, async ({ pools }) => {
    const input = createGunzip()
    // Reading from `input` throws the error too.
    const reading = pipeline(createReadStream(file), input).catch(() => {})
    try {
      return await restoreBackup(pools.tenant, input, options.progress)
    } catch (error) {
      throw isOfGzip(error) ? new BackupError('the file is not a whole backup of Parley', { cause: error }) : error
    } finally {
      input.destroy()
      await reading
    }
  })
}

const isOfGzip = (error: unknown) => /^(Z_|ERR_STREAM_PREMATURE)/.test((error as { code?: string }).code ?? '')

async function writeFile<T>(path: string, write: (output: Writable) => Promise<T>): Promise<T> {
  const gzip = createGzip()
  const written = pipeline(gzip, createWriteStream(path, { flags: 'wx', mode: fileMode, flush: true }))
  const writing = write(gzip).then((result) => {
    gzip.end()
    return result
  })
  // A full disk ends this at once, and not when the rows are through.
  const [result] = await Promise.all([writing, written])
  return result
}

async function withDatabase<T>(options: DatabaseOptions, run: (database: OpenDatabase) => Promise<T>): Promise<T> {
  const database = await openDatabase(options, applicationName(nanoid()), 1)
  try {
    return await run(database)
  } finally {
    await database.close(database.hasStartedServer)
  }
}
