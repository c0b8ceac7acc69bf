/**
 * Links to recordings in the reports of calls that ended before this process started. They need the server's URL, which
 * the server knows once it listens.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { App } from '../../app/app.ts'
import { openCallRecords } from '../../app/calls.ts'
import { openRecordingLinks } from '../../app/recordings.ts'
import { Revocations } from '../../domain/access/revocations.ts'
import type { Operations } from '../../domain/operations.ts'
import { configKeys } from '../../generated/config/keys.ts'
import type { ParleyConfig } from '../../generated/config/types.ts'
import { validateConfig } from '../../generated/config/validator.ts'
import { loadConfig } from '../../runtime/process/config.ts'
import { Owners } from '../../runtime/shares/owners.ts'
import { createLog } from '../../runtime/telemetry/log.ts'
import { createMetrics } from '../../runtime/telemetry/metrics.ts'
import { systemClock, systemIds } from '../../runtime/timing/clock.ts'
import { TestCluster } from '../store/cluster.ts'
import { connected, ended, openWorld, recording } from './call-events.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

/** No call in the test asks an LLM. */
const operations = { dispatch: {}, generateItems: {} } as unknown as Operations

t.test('a call report that was pending when the server started has an absolute link to its recording', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-links-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const config = await loadConfig<ParleyConfig>({ PARLEY_DATA_DIR: dataDir }, configKeys, validateConfig)
  let listensAt: string | null = null
  const localUrl = () => {
    if (listensAt === null) throw new Error('the server does not listen yet')
    return listensAt
  }
  const opening = { config, clock: systemClock, secrets: { masterKey: 'k'.repeat(32) }, localUrl }
  const recordingLinks = await openRecordingLinks(opening)
  const world = await openWorld(t, cluster, recordingLinks.urlOf)
  await world.endpoint({ events: ['call.report'] })
  const call = await world.call()
  await world.store.calls.append(call, call.id, [connected(), recording('recording'), ended(), recording('ready')])
  const log = createLog('silent')
  const { keys } = world.store
  const app: App = {
    ...opening,
    env: {},
    worker: 0,
    ids: systemIds,
    random: Math.random,
    log,
    metrics: createMetrics(),
    tracing: null,
    recordingLinks,
    store: world.store,
    owners: new Owners(),
    revocations: new Revocations({ changes: keys, keys, clock: systemClock, log }),
    closing: (close) => t.teardown(close),
  }
  const records = openCallRecords(app, operations)
  // The server writes due call reports every second, so after this time a report would exist.
  await pause(1_500)
  t.same(await world.names(call), [], 'a start that takes long makes no report')
  listensAt = 'http://127.0.0.1:4242'
  records.start()
  for (let tries = 0; tries < 400 && (await world.names(call)).length === 0; tries++) await pause(50)
  const [report] = await world.events(call)
  t.match(report?.body, { recording_url: /^http:\/\/127\.0\.0\.1:4242\/recordings\/.*signature=/ })
})
