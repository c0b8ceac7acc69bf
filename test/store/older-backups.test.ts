/** A later version restores a backup that has an older schema. */
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { type BackupCounts, BackupError } from '../../store/backup/format.ts'
import { openBackup, restoreBackup } from '../../store/backup/restore-backup.ts'
import { writeBackup } from '../../store/backup/write-backup.ts'
import { readSchemaVersion, schemaVersion } from '../../store/migrations/migrate.ts'
import { connectOnce } from '../../store/postgres/connect.ts'
import { organization, TestCluster } from './cluster.ts'
import { laterSteps, laterVersion } from './later-steps.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const interruption = { arrived: new Promise<never>(() => {}), message: '' }

/** Makes a backup with an organization. Returns its lines. */
async function backupOf(t: Test, name: string): Promise<{ file: PassThrough; counts: BackupCounts }> {
  const databaseUrl = await cluster.database()
  await organization(await cluster.store(t, databaseUrl), name)
  const sql = connectOnce({ databaseUrl }, 'test')
  t.teardown(() => sql.end({ timeout: 1 }))
  const file = new PassThrough({ highWaterMark: 1024 * 1024 })
  const counts = await writeBackup(sql, schemaVersion, file)
  file.end()
  return { file, counts }
}

t.test('a backup of an older schema is upgraded with its rows when it is restored', async (t) => {
  const { file, counts } = await backupOf(t, 'Acme')
  const databaseUrl = await cluster.database('empty')
  const sql = connectOnce({ databaseUrl }, 'test')
  t.teardown(() => sql.end({ timeout: 1 }))
  const said: string[] = []
  const restored = await restoreBackup(
    sql,
    await openBackup(file),
    (message) => said.push(message),
    interruption,
    laterSteps,
  )
  t.match(restored, { schema: schemaVersion, ...counts })
  t.equal(await readSchemaVersion(sql, laterVersion), laterVersion)
  const superuser = cluster.sql(t, databaseUrl)
  t.match(await superuser`select name from organizations`, [{ name: 'Acme' }])
  t.equal((await superuser`select from later_notes`).length, 0)
  t.match(said, [/^preparing the schema/, /^preparing the schema \(3 migrations\)$/])
})

t.test('a backup from before the first release is refused', async (t) => {
  const file = new PassThrough()
  file.end('{"format":"parley backup 1","schema":47,"createdAt":"2026-11-01T00:00:00.000Z"}\n')
  const refused = await openBackup(file).catch((error: unknown) => error)
  t.ok(refused instanceof BackupError)
  t.match(refused, {
    message:
      'the backup has schema 47 from before the first release: restore it with the commit that CHANGELOG.md names, and make a new one',
  })
})
