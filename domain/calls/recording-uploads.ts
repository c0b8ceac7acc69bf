/**
 * Brings recordings of calls that are over to the bucket. The row of a call says `uploading` until its recording is there, so
 * nothing is forgotten when a process dies: another one of the machine that has the file takes the call over.
 *
 *   file complete, row `uploading` ──► put ──► row `ready` ──► file removed
 *                                       └─ fails: again after a pause; later than `uploadMs` after the end: row `failed`
 */
import type { Clock, Log } from '../ports/system.ts'
import type { CallEntry } from '../records/call.ts'
import type { Tenant } from '../records/organization.ts'
import type { RecordingBucket, Recordings } from '../records/recording.ts'
import type { CallStore } from './store.ts'

/** `ownerId` is the process that holds the upload, or the one that died. */
export type DueUpload = Tenant & { id: string; endedAtMs: number; ownerId: string | null; isOwn: boolean }

export interface UploadStore {
  /** Uploads of this process, then those of dead ones; of each, those of the oldest calls first. */
  due(): Promise<readonly DueUpload[]>
  /** Makes this process the holder of an upload. False: another one was faster. */
  takeOver(upload: DueUpload): Promise<boolean>
}

export type UploadDeps = {
  uploads: UploadStore
  calls: Pick<CallStore, 'append'>
  files: Recordings
  /** A recorder of this process still writes the file: a process that was held for dead goes on with calls that others ended. */
  isGrowing: (callId: string) => boolean
  /** Completes a file that a dead process left. Resolves with its length, or with null when it has no audio. */
  complete: (callId: string) => Promise<number | null>
  bucket: RecordingBucket
  /** Uploads are repeated for this long after the end of the call. Each process tries once, however late it is. */
  uploadMs: number
  clock: Clock
  log: Log
  /** UUIDv7. */
  eventId: () => string
}

const atOnceMax = 2
const pauseMs = { first: 1_000, max: 60_000 }

/** An upload is not begun before `untilMs`. The failures are those in a row. */
type Pause = { failures: number; untilMs: number }

export class RecordingUploads {
  readonly #deps: UploadDeps
  readonly #running = new Map<string, Promise<void>>()
  readonly #pauses = new Map<string, Pause>()
  readonly #stop = new AbortController()

  constructor(deps: UploadDeps) {
    this.#deps = deps
  }

  /** Begins what is due. Uploads go on when it resolves. */
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

  /** Gives up what runs. It is begun again by the next process. */
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

  /** The file of a dead process may be on another machine, whose next process has it. Such uploads take no place of others. */
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

  /** Resolves with the length of the recording, or with null where there is no recording. */
  async #put(upload: DueUpload): Promise<number | null> {
    const { files, complete, bucket } = this.#deps
    const durationMs = await complete(upload.id)
    const content = durationMs === null ? null : await files.find(upload.id)
    if (content === null) return null
    await bucket.put(upload, content, this.#stop.signal)
    return durationMs
  }

  async #giveUp(upload: DueUpload, failureCause: string, err: unknown): Promise<void> {
    await this.#end(upload, 'failed', failureCause, null)
    this.#deps.log.error({ err, callId: upload.id, failureCause }, 'a recording was not uploaded')
  }

  /** The event is of the media, as all of a recording. */
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
