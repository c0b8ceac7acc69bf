/**
 * Writes and reads a backup as a file. It appears whole or not at all, and only the user of this process can read it.
 */
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { nanoid } from 'nanoid'
import { type DatabaseOptions, type OpenDatabase, openDatabase } from '../database/database.ts'
import { readSchemaVersion } from '../migrations/migrate.ts'
import { applicationName } from '../sharing/instances.ts'
import { explained, problem } from './file-problem.ts'
import { type BackupCounts, BackupError, type BackupHeader } from './format.ts'
import { type Interruption, interruptible, requireUninterrupted } from './interruption.ts'
import { openBackup, restoreBackup } from './restore-backup.ts'
import { waitForRestore, withRestoreLock } from './restore-lock.ts'
import { writeBackup } from './write-backup.ts'

export type BackupResult = BackupCounts & { schema: number }

const fileMode = 0o600

/** Writes the whole database into `file`, and replaces an older file there. Servers and commands can go on working. */
export function backUp(options: Omit<DatabaseOptions, 'prepares'>, file: string): Promise<BackupResult> {
  return interruptible((interruption) => backUpInto(options, file, interruption))
}

async function backUpInto(
  given: Omit<DatabaseOptions, 'prepares'>,
  file: string,
  interruption: Interruption,
): Promise<BackupResult> {
  await requireReplaceable(file)
  const options = { ...given, prepares: false }
  // The unfinished file is in the same folder, so the rename copies nothing. It has a short name, because a name made
  // from the backup's name could be too long for the file system.
  const unfinished = path.join(path.dirname(`${file}.`), `parley-unfinished-${nanoid(6)}`)
  // The file is opened before the database, so a wrong path is reported at once. Opening the database can take a while.
  const handle = await inFile(open(unfinished, 'wx', fileMode), file, 'written')
  try {
    const result = await withDatabase(options, interruption, async ({ pools }) => {
      // If a restore is under way, its uncommitted rows would be missing in the file, without any error.
      await waitForRestore(pools.tenant, options)
      const schema = await readSchemaVersion(pools.tenant)
      if (schema === 0) throw new BackupError('the database has no tables of Parley')
      const counts = await writeFile(handle, file, (output) => writeBackup(pools.tenant, schema, output))
      return { schema, ...counts }
    })
    await requireUninterrupted(interruption)
    await inFile(rename(unfinished, file), file, 'written')
    return result
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}

/**
 * Makes the schema and reads the backup into it. Throws BackupError if the database is in use, or if the file is not a
 * whole backup.
 */
export function restore(
  options: Omit<DatabaseOptions, 'prepares'>,
  file: string,
): Promise<BackupHeader & BackupCounts> {
  return interruptible((interruption) => restoreFrom(options, file, interruption))
}

async function restoreFrom(
  options: Omit<DatabaseOptions, 'prepares'>,
  file: string,
  interruption: Interruption,
): Promise<BackupHeader & BackupCounts> {
  // If `file` is a pipe without a writer, opening it never ends.
  const handle = await Promise.race([openToRead(file), interruption.arrived])
  const input = createGunzip()
  // Here the error is ignored, because reading from `input` throws it too.
  const reading = pipeline(handle.createReadStream(), input).catch(() => {})
  try {
    // The header is read before the database is opened, so a wrong file leaves the database untouched.
    const backup = await Promise.race([openBackup(input), interruption.arrived])
    return await withDatabase({ ...options, prepares: true }, interruption, ({ pools }, name) =>
      withRestoreLock(pools.system, name, () => restoreBackup(pools.tenant, backup, options.progress, interruption)),
    )
  } catch (error) {
    if (isOfGzip(error)) throw new BackupError('the file is not a whole backup of Parley', { cause: error })
    throw error === input.errored ? explained(error, { file, used: 'read' }) : error
  } finally {
    input.destroy()
    // If a pipe stalls, `reading` never ends.
    await Promise.race([reading, interruption.arrived.catch(() => {})])
  }
}

async function openToRead(file: string): Promise<FileHandle> {
  const handle = await inFile(open(file), file, 'read')
  try {
    const stats = await inFile(handle.stat(), file, 'read')
    if (stats.isDirectory()) throw problem({ file, used: 'read' }, 'it is a folder; name a file in it')
    if (stats.isFile() && stats.size === 0) throw problem({ file, used: 'read' }, 'it is empty')
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Throws BackupError unless `file` can be replaced. A rename would replace even a device such as `/dev/null`, and fails
 * only for a folder.
 */
async function requireReplaceable(file: string): Promise<void> {
  if (file === '') throw new BackupError('name the file that the backup is written to')
  const stats = await inFile(stat(file).catch(nullIfMissing), file, 'written')
  if (stats === null || stats.isFile()) return
  throw problem(
    { file, used: 'written' },
    stats.isDirectory() ? 'it is a folder; name a file in it' : 'it is no file; name one',
  )
}

function nullIfMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}

async function inFile<T>(work: Promise<T>, file: string, used: 'written' | 'read'): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw explained(error, { file, used })
  }
}

const isOfGzip = (error: unknown) => /^(Z_|ERR_STREAM_PREMATURE)/.test((error as { code?: string }).code ?? '')

async function writeFile<T>(handle: FileHandle, file: string, write: (output: Writable) => Promise<T>): Promise<T> {
  const gzip = createGzip()
  const written = inFile(pipeline(gzip, handle.createWriteStream({ flush: true })), file, 'written')
  const writing = write(gzip).then(
    (result) => {
      gzip.end()
      return result
    },
    async (error: unknown) => {
      // If writing to the file fails, `write` fails too, but only the file's error has the file's path. So the file's
      // error is thrown first.
      if (gzip.errored) await written
      throw error
    },
  )
  // If the disk is full, this fails at once instead of after the last row.
  const [result] = await Promise.all([writing, written])
  return result
}

async function withDatabase<T>(
  options: DatabaseOptions,
  interruption: Interruption,
  run: (database: OpenDatabase, name: string) => Promise<T>,
): Promise<T> {
  const name = applicationName(nanoid())
  const database = await openDatabase(options, name, 1)
  try {
    await requireUninterrupted(interruption)
    return await Promise.race([run(database, name), interruption.arrived])
  } finally {
    await database.close(database.hasStartedServer)
  }
}
