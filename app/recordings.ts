/** Call recordings: their files, the bucket if there is one, and links to them. */
import { join } from 'node:path'
import { createRecordingLinks, linkLifeSMax } from '../domain/calls/recording-links.ts'
import { RecordingRetention } from '../domain/calls/recording-retention.ts'
import { RecordingUploads } from '../domain/calls/recording-uploads.ts'
import type { SalvagedRecording } from '../domain/calls/store.ts'
import { StoredRecordings } from '../domain/calls/stored-recordings.ts'
import type { GrowingFile } from '../domain/conversation/hearing/recorded-peaks.ts'
import { Recorder, salvage } from '../domain/conversation/hearing/recorder.ts'
import type { CallRecorder } from '../domain/conversation/parts/deps.ts'
import type { Call } from '../domain/records/call.ts'
import type { RecordingBucket, Recordings } from '../domain/records/recording.ts'
import { WorkQueue } from '../runtime/shares/work-queue.ts'
import type { Loops } from '../runtime/timing/loops.ts'
import { openRecordingBucket } from '../store/recordings/recording-bucket.ts'
import { createRecordingFiles } from '../store/recordings/recording-files.ts'
import type { App, RecordingLinks } from './app.ts'

export async function openRecordingLinks({
  config,
  clock,
  secrets,
  localUrl,
}: Pick<App, 'config' | 'clock' | 'secrets' | 'localUrl'>): Promise<RecordingLinks> {
  const { bucket: name, ...s3 } = config.s3
  const bucket = name === null ? null : await openRecordingBucket({ ...s3, bucket: name }, clock)
  const signed = createRecordingLinks({ current: secrets.masterKey, previous: config.previousMasterKeys }, clock)
  return {
    bucket,
    signed,
    async urlOf(place) {
      if (bucket !== null) return bucket.link(place, linkLifeSMax)
      const ownUrl = (config.publicUrl ?? localUrl()).replace(/\/+$/, '')
      return `${ownUrl}${signed.sign(place.id, Math.floor(clock.nowMs() / 1000) + linkLifeSMax)}`
    },
  }
}

export type CallRecordings = {
  stored: StoredRecordings
  /** Begins a call's audio recording. Null if the call is not recorded. */
  record: (call: Call) => CallRecorder | null
  /** Decides the status for the recording of a dead process. */
  salvage: (callId: string) => Promise<SalvagedRecording>
}

/** The interval for finding uploads. A recording's upload begins within this time after its call. */
const uploadsEveryMs = 1_000
const retentionEveryMs = 60_000

export function openCallRecordings(app: App, loops: Loops): CallRecordings {
  const { config, clock, log, store, owners, recordingLinks } = app
  const { bucket, signed } = recordingLinks
  const { organizationShare: part, recordingPeaksMax: runningMax, recordingPeaksQueueMax: waitingMax } = config.limits
  const peaksQueue = new WorkQueue({ runningMax, waitingMax }, { owners, part })
  const files = createRecordingFiles(join(config.dataDir, 'recordings'))
  const growing = new Set<string>()
  if (bucket !== null) startUploads(app, { files, bucket, growing, loops })
  startRetention(app, files, loops)
  const endsAs = bucket === null ? 'ready' : 'uploading'
  return {
    stored: new StoredRecordings({
      ...{ files, bucket, links: signed, isDisabled: store.isOfDisabled, clock, log },
      peaksInTurn: (organizationId, work) => peaksQueue.run(organizationId, work),
    }),
    record: (call) =>
      call.pipeline.recording
        ? new Recorder({ file: fileOf(files, call, growing), peaks: peaksOf(files, call), clock, log, endsAs })
        : null,
    async salvage(callId) {
      if (bucket !== null) return { status: 'uploading' }
      const durationMs = await salvage(files, callId)
      return durationMs === null ? { status: 'failed' } : { status: 'ready', durationMs }
    },
  }
}

type Uploading = { files: Recordings; bucket: RecordingBucket; growing: ReadonlySet<string>; loops: Loops }

function startUploads(app: App, { files, bucket, growing, loops }: Uploading): void {
  const { config, clock, ids, log, store } = app
  const uploads = new RecordingUploads({
    uploads: store.recordingUploads,
    calls: store.calls,
    files,
    isGrowing: (callId) => growing.has(callId),
    complete: (callId) => salvage(files, callId),
    bucket,
    uploadMs: config.s3.uploadMs,
    clock,
    log,
    eventId: ids.session,
  })
  loops.start({ name: 'uploads of recordings', everyMs: uploadsEveryMs, run: () => uploads.look() })
  // Runs after the loops have stopped, because the loops were added later and are closed first.
  app.closing(() => uploads.close())
}

/** Deletes expired recordings. A recording is kept no longer than its call's record. */
function startRetention({ config, clock, log, store, recordingLinks }: App, files: Recordings, loops: Loops) {
  const { recordingsDays, callsDays } = config.retention
  const days = Math.min(recordingsDays ?? Number.POSITIVE_INFINITY, callsDays ?? Number.POSITIVE_INFINITY)
  if (days === Number.POSITIVE_INFINITY) return
  const { bucket } = recordingLinks
  const retention = new RecordingRetention({ expired: store.expiredRecordings, files, bucket, days, clock, log })
  loops.start({ name: 'the end of recordings', everyMs: retentionEveryMs, run: () => retention.run() })
}

/**
 * Recordings of calls with this number fail, for tests. The number is the simulated carrier's, and no real phone has
 * it.
 */
const failingNumber = '+15005550014'

/**
 * Begins the recording's file. The conversation does not wait for the file to open: only the recorder waits, at its
 * first write. `growing` has the calls with an open file.
 */
function fileOf(files: Recordings, { id, phone }: Call, growing: Set<string>): GrowingFile {
  const fails = phone?.to === failingNumber || phone?.from === failingNumber
  growing.add(id)
  const opened = files.create(id)
  return {
    append: async (bytes) => (await opened).append(bytes),
    replaceStart: async (bytes) => {
      if (fails) throw new Error('the recordings of this number of the simulated carrier fail')
      await (await opened).replaceStart(bytes)
    },
    async close() {
      try {
        await (await opened).close()
      } finally {
        growing.delete(id)
      }
    },
  }
}

function peaksOf(files: Recordings, { id }: Call): GrowingFile {
  const opened = files.createPeaks(id)
  // The recorder notices a failure at its first write. Without this handler, Node would end the process before.
  opened.catch(() => {})
  return {
    append: async (bytes) => (await opened).append(bytes),
    replaceStart: async (bytes) => (await opened).replaceStart(bytes),
    close: async () => (await opened).close(),
  }
}
