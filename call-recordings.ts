/** Joins the recordings of calls: their files, the bucket where there is one, and links to them. */
import { join } from 'node:path'
import type { Call } from './domain/calls/call.ts'
import { createRecordingLinks, linkLifeSMax } from './domain/calls/recording-links.ts'
import { RecordingRetention } from './domain/calls/recording-retention.ts'
import { RecordingUploads } from './domain/calls/recording-uploads.ts'
import type { RecordingBucket, RecordingPlace, Recordings } from './domain/calls/recordings.ts'
import type { SalvagedRecording } from './domain/calls/store.ts'
import { StoredRecordings } from './domain/calls/stored-recordings.ts'
import type { CallRecorder } from './domain/conversation/deps.ts'
import { type GrowingFile, Recorder, salvage } from './domain/conversation/recorder.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import type { Loops } from './runtime/loops.ts'
import { openRecordingBucket } from './store/recording-bucket.ts'
import { createRecordingFiles } from './store/recording-files.ts'
import type { Store } from './store/store.ts'

export type RecordingParts = {
  config: ParleyConfig
  store: Store
  /** Signs links. */
  masterKey: string
  log: ReturnType<typeof createLog>
  loops: Loops
}

export type CallRecordings = {
  stored: StoredRecordings
  /**
   * A link to a recording that is ready, good for seven days. It is not looked for, because its row says that it is there.
   * Rejects before `listening`: a link needs the address of the server.
   */
  urlOf: (place: RecordingPlace) => Promise<string>
  /** The server is reached at this address, where no other one is set. */
  listening: (url: string) => void
  /** Begins to record a call. Null: it is not recorded. */
  record: (call: Call) => CallRecorder | null
  /** Says what becomes of the recording that a dead process left behind. */
  salvage: (callId: string) => Promise<SalvagedRecording>
  /** Gives up the uploads that run, after the loops have stopped. */
  close(): Promise<void>
}

/** A recording is uploaded this soon after the end of its call. */
const uploadsEveryMs = 1_000
const retentionEveryMs = 60_000

export async function openCallRecordings(parts: RecordingParts): Promise<CallRecordings> {
  const { config, masterKey, log } = parts
  const clock = systemClock
  const files = createRecordingFiles(join(config.dataDir, 'recordings'))
  const { bucket: name, ...s3 } = config.s3
  const bucket = name === null ? null : await openRecordingBucket({ ...s3, bucket: name }, clock)
  const links = createRecordingLinks({ current: masterKey, previous: config.previousMasterKeys }, clock)
  const growing = new Set<string>()
  const uploads = bucket && startUploads(parts, files, bucket, growing)
  startRetention(parts, files, bucket)
  let ownUrl = config.publicUrl
  const endsAs = bucket === null ? 'ready' : 'uploading'
  return {
    stored: new StoredRecordings({ files, bucket, links, clock, log }),
    async urlOf(place) {
      if (bucket !== null) return bucket.link(place, linkLifeSMax)
      if (ownUrl === null) throw new Error('the address of this server is not known yet')
      return `${ownUrl.replace(/\/+$/, '')}${links.sign(place.id, Math.floor(clock.nowMs() / 1000) + linkLifeSMax)}`
    },
    listening(url) {
      ownUrl = config.publicUrl ?? url
    },
    record: (call) =>
      call.pipeline.recording ? new Recorder({ file: fileOf(files, call, growing), clock, log, endsAs }) : null,
    async salvage(callId) {
      if (bucket !== null) return { status: 'uploading' }
      const durationMs = await salvage(files, callId)
      return durationMs === null ? { status: 'failed' } : { status: 'ready', durationMs }
    },
    async close() {
      await uploads?.close()
      bucket?.close()
    },
  }
}

function startUploads(
  { config, store, log, loops }: RecordingParts,
  files: Recordings,
  bucket: RecordingBucket,
  growing: ReadonlySet<string>,
): RecordingUploads {
  const uploads = new RecordingUploads({
    uploads: store.recordingUploads,
    calls: store.calls,
    files,
    isGrowing: (callId) => growing.has(callId),
    complete: (callId) => salvage(files, callId),
    bucket,
    uploadMs: config.s3.uploadMs,
    clock: systemClock,
    log,
    eventId: systemIds.session,
  })
  loops.start({ name: 'uploads of recordings', everyMs: uploadsEveryMs, run: () => uploads.look() })
  return uploads
}

/** A recording is kept no longer than its call. */
function startRetention(
  { config, store, log, loops }: RecordingParts,
  files: Recordings,
  bucket: RecordingBucket | null,
): void {
  const { recordingsDays, callsDays } = config.retention
  const days = Math.min(recordingsDays ?? Number.POSITIVE_INFINITY, callsDays ?? Number.POSITIVE_INFINITY)
  if (days === Number.POSITIVE_INFINITY) return
  const expired = store.expiredRecordings
  const retention = new RecordingRetention({ expired, files, bucket, days, clock: systemClock, log })
  loops.start({ name: 'the end of recordings', everyMs: retentionEveryMs, run: () => retention.run() })
}

/** A number of the simulated carrier, which no real phone has. */
const failingNumber = '+15005550014'

/** A conversation does not wait for its file: the recorder waits, at its first write. `growing` has the calls whose files are not closed. */
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
