/** Old recordings are deleted, over a real database and real files, with a bucket and without. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { v7 } from 'uuid'
import { Calls, type CallsDeps } from '../../domain/calls/calls.ts'
import { RecordingRetention } from '../../domain/calls/recording-retention.ts'
import { StoredRecordings } from '../../domain/calls/stored-recordings.ts'
import type { RecordingPlace } from '../../domain/records/recording.ts'
import type { ResourceFault } from '../../domain/records/resource-fault.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { createRecordingFiles } from '../../store/recordings/recording-files.ts'
import { organization, silent, TestCluster, temporaryFolder } from '../store/cluster.ts'
import { newCall } from './call.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

const dayMs = 86_400_000
const days = 7

async function setUp(t: Test) {
  const url = await cluster.database()
  const store = await cluster.store(t, url)
  const sql = cluster.sql(t, url)
  const { id: organizationId } = await organization(store, 'a')
  const folder = join(temporaryFolder(), 'recordings')
  const files = createRecordingFiles(folder)
  const idOf = (agoDays: number) => v7({ msecs: Date.now() - agoDays * dayMs })
  const write = async (id: string) => {
    const file = await files.create(id)
    await file.append(Uint8Array.of(1))
    await file.close()
    return id
  }
  /** Stores a call with a recording file. The call ended `endedAgoDays` ago, or is still live if this is null. */
  const recorded = async (agoDays: number, endedAgoDays: number | null, status = 'ready') => {
    const id = await write(idOf(agoDays))
    await store.calls.insert(newCall(organizationId, { id }), {})
    const endedAt = endedAgoDays === null ? null : new Date(Date.now() - endedAgoDays * dayMs)
    await sql`
      update calls set recording_status = ${status}, recording_duration_ms = 1000, ended_at = ${endedAt},
        status = ${endedAt === null ? 'in_progress' : 'completed'}, end_reason = ${endedAt === null ? null : 'user_hangup'}
      where id = ${id}`
    return id
  }
  const retention = (bucket: { remove(place: RecordingPlace): Promise<void> } | null) =>
    new RecordingRetention({ expired: store.expiredRecordings, files, bucket, days, clock: systemClock, log: silent })
  const hasFile = (id: string) => existsSync(join(folder, `${id}.wav`))
  const tenant = { organizationId, test: false }
  const calls = new Calls({
    calls: store.calls,
    recordings: new StoredRecordings({
      files,
      bucket: null,
      links: {} as never,
      isDisabled: () => Promise.resolve(false),
      peaksInTurn: (_organizationId, work) => work(),
      clock: systemClock,
      log: silent,
    }),
  } as unknown as CallsDeps)
  return { store, sql, recorded, retention, hasFile, write, idOf, calls, tenant }
}

t.test('an expired recording is removed, and requests for it are then answered as if the call had none', async (t) => {
  const { store, recorded, retention, hasFile, write, idOf, calls, tenant } = await setUp(t)
  const old = await recorded(20, 10)
  const recent = await recorded(20, 3)
  const live = await recorded(20, null, 'recording')
  const failed = await recorded(20, 10, 'failed')
  const unknown = await write(idOf(20))
  await retention(null).run()
  t.same([old, recent, live, failed, unknown].map(hasFile), [false, true, true, false, false])
  t.match(await store.calls.find(tenant, old), { recordingStatus: 'suppressed', recordingDurationMs: null })
  t.match(await store.calls.find(tenant, recent), { recordingStatus: 'ready', recordingDurationMs: 1000 })
  t.match(await store.calls.find(tenant, failed), { recordingStatus: 'failed' })
  const fault = await calls.recording(tenant, old).catch((error: ResourceFault) => error)
  t.match(fault, { data: { kind: 'recording_missing', status: 'suppressed' } })
  t.equal((await calls.recording(tenant, recent)).size, 1)
})

t.test('a call keeps its recording until the recording is removed from the bucket', async (t) => {
  const { store, recorded, retention, tenant } = await setUp(t)
  const old = await recorded(20, 10)
  const removed: RecordingPlace[] = []
  let isAway = true
  const expiring = retention({
    remove(place) {
      if (isAway) return Promise.reject(new Error('the bucket is away'))
      removed.push(place)
      return Promise.resolve()
    },
  })
  await t.rejects(expiring.run())
  t.match(await store.calls.find(tenant, old), { recordingStatus: 'ready' })
  isAway = false
  await expiring.run()
  t.match(removed, [{ ...tenant, id: old }])
  t.match(await store.calls.find(tenant, old), { recordingStatus: 'suppressed' })
  await expiring.run()
  t.equal(removed.length, 1)
})

t.test('all expired recordings are removed, even if they are more than one batch', async (t) => {
  const { sql, recorded, retention } = await setUp(t)
  for (let number = 0; number < 105; number += 1) await recorded(20, 10)
  await retention(null).run()
  t.match(await sql`select count(*)::int as left from calls where recording_status = 'ready'`, [{ left: 0 }])
})
