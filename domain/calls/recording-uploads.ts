/**
 * Uploads the recordings of ended calls to the bucket. A call's row says `uploading` until its recording is in the
 * bucket. So if a process dies, another process on the machine with the file finds the row and takes the upload over.
 *
 *   file complete, row `uploading` ──► put ──► row `ready` ──► file removed
 *                                       └─ fails: again after a pause; `uploadMs` after the end: row `failed`
 */
import type { Clock, Log } from '../ports/system.ts'
import type { CallEntry } from '../records/call.ts'
import type { Tenant } from '../records/organization.ts'
import type { RecordingBucket, Recordings } from '../records/recording.ts'
import { areCompletePeaks } from './recording-peaks.ts'
import type { CallStore } from './store.ts'

/** `ownerId` names the process that owns the upload. That process may be dead. */
export type DueUpload = Tenant & { id: string; endedAtMs: number; ownerId: string | null; isOwn: boolean }

export interface UploadStore {
  /** Lists this process's uploads first, then the uploads of dead processes. Each group begins with the oldest call. */
  due(): Promise<readonly DueUpload[]>
  /** Gives the upload to this process. Resolves with false if another process has taken the upload before. */
  takeOver(upload: DueUpload): Promise<boolean>
}

export type UploadDeps = {
  uploads: UploadStore
  calls: Pick<CallStore, 'append'>
  files: Recordings
  /**
   * Returns true if a recorder in this process still writes the file. This happens if other processes consider this
   * process dead and end its calls while it still records them.
   */
  isGrowing: (callId: string) => boolean
  /**
   * Completes the file after its process died. Resolves with the recording's length, or with null if it has no audio.
   */
  complete: (callId: string) => Promise<number | null>
  bucket: RecordingBucket
  /** Uploads are repeated until this long after the call's end. Each process tries at least once, even later. */
  uploadMs: number
  clock: Clock
  log: Log
  /** Returns a new UUIDv7. */
  eventId: () => string
}

const atOnceMax = 2
const pauseMs = { first: 1_000, max: 60_000 }

/** `failures` counts consecutive failures. The next attempt does not begin before `untilMs`. */
type Pause = { failures: number; untilMs: number }

export class RecordingUploads {
  readonly #deps: UploadDeps
  readonly #running = new Map<string, Promise<void>>()
  readonly #pauses = new Map<string, Pause>()
  readonly #stop = new AbortController()

  constructor(deps: UploadDeps) {
    this.#deps = deps
  }

  /** Begins the due uploads without waiting for them. */
  async look(): Promise<void> {
    const due = await this.#deps.uploads.due()
    this.#forgetAllBut(new Set(due.map(({ id }) => id)))
    for (const upload of due) {
      if (this.#running.size >= atOnceMax) return
      if (this.#running.has(upload.id) || this.#isPaused(upload.id) || this.#deps.isGrowing(upload.id)) continue
      const isElsewhere = await this.#isElsewhere(upload)
      if (this.#stop.signal.aborted) return
      if (isElsewhere) this.#pause(upload.id, 0, pauseMs.max)
      else this.#begin(upload)
    }
  }

  /** Aborts the running uploads. Another process, or this process after its restart, begins the uploads again. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the process ends'))
    await Promise.all(this.#running.values())
  }

  #forgetAllBut(ids: ReadonlySet<string>): void {
    for (const id of this.#pauses.keys()) if (!ids.has(id)) this.#pauses.delete(id)
  }

  #isPaused(callId: string): boolean {
    const pause = this.#pauses.get(callId)
    return pause !== undefined && pause.untilMs > this.#deps.clock.monotonicMs()
  }

  #pause(callId: string, failures: number, waitMs: number): void {
    this.#pauses.set(callId, { failures, untilMs: this.#deps.clock.monotonicMs() + waitMs })
  }

  #isLate({ endedAtMs }: DueUpload): boolean {
    return this.#deps.clock.nowMs() - endedAtMs > this.#deps.uploadMs
  }

  /**
   * Resolves with true if a dead process's file is on another machine: a process there must upload it. Without this
   * check, such uploads would use up the limit for uploads from this machine.
   */
  async #isElsewhere(upload: DueUpload): Promise<boolean> {
    return !upload.isOwn && !this.#isLate(upload) && (await this.#deps.files.find(upload.id)) === null
  }

  #begin(upload: DueUpload): void {
    const ended = this.#run(upload).then(
      () => this.#pauses.delete(upload.id),
      (err: unknown) => this.#failed(upload, err),
    )
    this.#running.set(
      upload.id,
      ended.then(() => void this.#running.delete(upload.id)),
    )
  }

  #failed({ id: callId }: DueUpload, err: unknown): void {
    if (this.#stop.signal.aborted) return
    const failures = (this.#pauses.get(callId)?.failures ?? 0) + 1
    const waitMs = Math.min(pauseMs.first * 2 ** (failures - 1), pauseMs.max)
    this.#pause(callId, failures, waitMs)
    this.#deps.log.warn({ err, callId, failures, waitMs }, 'a recording could not be uploaded; it is tried again')
  }

  async #run(upload: DueUpload): Promise<void> {
    if (!upload.isOwn && !(await this.#deps.uploads.takeOver(upload))) return
    let durationMs: number | null
    try {
      durationMs = await this.#put(upload)
    } catch (err) {
      if (!this.#isLate(upload) || this.#stop.signal.aborted) throw err
      return this.#giveUp(upload, 'upload_failed', err)
    }
    if (durationMs === null)
      return this.#giveUp(upload, this.#isLate(upload) ? 'upload_failed' : 'recording_lost', null)
    await this.#end(upload, 'ready', null, durationMs)
    await this.#deps.files.remove(upload.id)
  }

  /** Uploads the recording. Resolves with its length, or with null if there is no recording. */
  async #put(upload: DueUpload): Promise<number | null> {
    const { files, complete, bucket } = this.#deps
    const durationMs = await complete(upload.id)
    const content = durationMs === null ? null : await files.find(upload.id)
    if (content === null) return null
    const peaks = await files.findPeaks(upload.id)
    if (peaks !== null && areCompletePeaks(peaks, content.size)) await bucket.keepPeaks(upload, peaks)
    await bucket.put(upload, content, this.#stop.signal)
    return durationMs
  }

  async #giveUp(upload: DueUpload, failureCause: string, err: unknown): Promise<void> {
    await this.#end(upload, 'failed', failureCause, null)
    this.#deps.log.error({ err, callId: upload.id, failureCause }, 'a recording was not uploaded')
  }

  /** Stores the upload's result with an event. The event's provider is `media`, as for all recording events. */
  async #end(
    upload: DueUpload,
    status: 'ready' | 'failed',
    failureCause: string | null,
    durationMs: number | null,
  ): Promise<void> {
    const { calls, clock, eventId } = this.#deps
    const event = {
      id: eventId(),
      provider: 'media' as const,
      type: `recording.${status}` as const,
      status: null,
      failureCause,
      occurredAtMs: clock.nowMs(),
      payload: {},
    }
    const entry: CallEntry = { kind: 'recording', event, lineEventId: eventId(), status, durationMs }
    await calls.append(upload, upload.id, [entry])
  }
}
