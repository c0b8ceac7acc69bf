/**
 * Brings recordings of calls that are over to the bucket. The row of a call says `uploading` until its recording is there, so
 * nothing is forgotten when a process dies: another one of the machine that has the file takes the call over.
 *
 *   file complete, row `uploading` ──► put ──► row `ready` ──► file removed
 *                                       └─ fails: again after a pause, until `uploadMs` after the end: row `failed`
 */
import type { Tenant } from '../access/organization.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { CallEntry } from './call.ts'
import type { RecordingBucket, Recordings } from './recordings.ts'
import type { CallStore } from './store.ts'

/** `ownerId` is the process that holds the upload, or the one that died. */
export type DueUpload = Tenant & { id: string; endedAtMs: number; ownerId: string | null; isOwn: boolean }

export interface UploadStore {
  /** Uploads of this process and of dead ones, those of the oldest calls first. */
  due(): Promise<readonly DueUpload[]>
  /** Makes this process the holder of an upload. False: another one was faster. */
  takeOver(upload: DueUpload): Promise<boolean>
}

export type UploadDeps = {
  uploads: UploadStore
  calls: Pick<CallStore, 'append'>
  files: Recordings
  /** Completes a file that a dead process left. Resolves with its length, or with null when it has no audio. */
  complete: (callId: string) => Promise<number | null>
  bucket: RecordingBucket
  /** Failed uploads are repeated for this long after the end of the call. */
  uploadMs: number
  clock: Clock
  log: Log
  /** UUIDv7. */
  eventId: () => string
}

const atOnceMax = 2
const pauseMs = { first: 1_000, max: 60_000 }

type Failure = { count: number; retryMs: number }

export class RecordingUploads {
  readonly #deps: UploadDeps
  readonly #running = new Map<string, Promise<void>>()
  readonly #failures = new Map<string, Failure>()
  readonly #stop = new AbortController()

  constructor(deps: UploadDeps) {
    this.#deps = deps
  }

  /** Begins what is due. Uploads go on when it resolves. */
  async look(): Promise<void> {
    const due = await this.#deps.uploads.due()
    this.#forgetAllBut(new Set(due.map(({ id }) => id)))
    const nowMs = this.#deps.clock.monotonicMs()
    for (const upload of due) {
      if (this.#running.size >= atOnceMax || this.#stop.signal.aborted) return
      if (this.#running.has(upload.id) || (this.#failures.get(upload.id)?.retryMs ?? nowMs) > nowMs) continue
      this.#begin(upload)
    }
  }

  /** Gives up what runs. It is begun again by the next process. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the process ends'))
    await Promise.all(this.#running.values())
  }

  #forgetAllBut(ids: ReadonlySet<string>): void {
    for (const id of this.#failures.keys()) if (!ids.has(id)) this.#failures.delete(id)
  }

  #begin(upload: DueUpload): void {
    const ended = this.#run(upload).then(
      () => this.#failures.delete(upload.id),
      (err: unknown) => this.#failed(upload, err),
    )
    this.#running.set(
      upload.id,
      ended.then(() => void this.#running.delete(upload.id)),
    )
  }

  #failed({ id: callId }: DueUpload, err: unknown): void {
    if (this.#stop.signal.aborted) return
    const count = (this.#failures.get(callId)?.count ?? 0) + 1
    const waitMs = Math.min(pauseMs.first * 2 ** (count - 1), pauseMs.max)
    this.#failures.set(callId, { count, retryMs: this.#deps.clock.monotonicMs() + waitMs })
    this.#deps.log.warn(
      { err, callId, failures: count, waitMs },
      'a recording could not be uploaded; it is tried again',
    )
  }

  async #run(upload: DueUpload): Promise<void> {
    const { uploads, files, complete, bucket, clock, uploadMs } = this.#deps
    const isLate = clock.nowMs() - upload.endedAtMs > uploadMs
    const hasFile = (await files.find(upload.id)) !== null
    // The file of a dead process may be on another machine, whose next process has it.
    if (!hasFile && !upload.isOwn && !isLate) return
    if (!upload.isOwn && !(await uploads.takeOver(upload))) return
    const durationMs = hasFile && !isLate ? await complete(upload.id) : null
    const content = durationMs === null ? null : await files.find(upload.id)
    if (content === null) return this.#end(upload, 'failed', isLate ? 'upload_failed' : 'recording_lost', null)
    await bucket.put(upload, content, this.#stop.signal)
    await this.#end(upload, 'ready', null, durationMs)
    await files.remove(upload.id)
  }

  /** The event is of the media, as all of a recording. */
  async #end(
    upload: DueUpload,
    status: 'ready' | 'failed',
    failureCause: string | null,
    durationMs: number | null,
  ): Promise<void> {
    const { calls, clock, eventId, log } = this.#deps
    const event = {
      id: eventId(),
      provider: 'media' as const,
      type: `recording.${status}` as const,
      status: null,
      failureCause,
      occurredAtMs: clock.nowMs(),
      payload: {},
    }
    const entry: CallEntry = { kind: 'recording', event, status, durationMs }
    await calls.append(upload, upload.id, [entry])
    if (status === 'failed') log.error({ callId: upload.id, failureCause }, 'a recording was not uploaded')
  }
}
