/**
 * Deletes old recordings. A recording's age counts from its call's end. The object in the bucket is deleted before the
 * call's row is changed: if the process dies in between, the next run finds the row again. Each machine stores separate
 * files, so each process searches its machine's folder. This also finds files from failed uploads and from unknown
 * calls.
 */
import type { Clock, Log } from '../ports/system.ts'
import type { RecordingBucket, RecordingPlace, Recordings } from '../records/recording.ts'
import { retentionStartMs } from '../records/retention.ts'

export interface ExpiredRecordings {
  /** Finds calls with a ready recording and an end before `beforeMs`, at most `limit`. */
  due(beforeMs: number, limit: number): Promise<readonly RecordingPlace[]>
  /** Stores that these calls have no recording any more. */
  removed(places: readonly RecordingPlace[]): Promise<void>
  /** Returns the subset of `callIds` to keep: running calls, and calls with an end at `fromMs` or later. */
  retainedAmong(callIds: readonly string[], fromMs: number): Promise<ReadonlySet<string>>
}

export type RecordingRetentionDeps = {
  expired: ExpiredRecordings
  files: Pick<Recordings, 'remove' | 'madeBefore'>
  /** Null if recordings are kept as files. */
  bucket: Pick<RecordingBucket, 'remove'> | null
  days: number
  clock: Clock
  log: Log
}

const atOnce = 100
/** The maximum number of deletions in the bucket in one run. */
const removedMax = 5_000

export class RecordingRetention {
  readonly #deps: RecordingRetentionDeps

  constructor(deps: RecordingRetentionDeps) {
    this.#deps = deps
  }

  async run(): Promise<void> {
    const { clock, days, log } = this.#deps
    const beforeMs = retentionStartMs(clock.nowMs(), days)
    const files = await this.#removeFiles(beforeMs)
    const recordings = await this.#removeReady(beforeMs)
    if (files + recordings > 0) log.info({ files, recordings, days }, 'recordings were deleted for their age')
  }

  async #removeReady(beforeMs: number): Promise<number> {
    const { expired, bucket } = this.#deps
    for (let removed = 0; ; ) {
      const due = await expired.due(beforeMs, atOnce)
      if (bucket !== null) for (const place of due) await bucket.remove(place)
      await expired.removed(due)
      removed += due.length
      if (due.length < atOnce || removed >= removedMax) return removed
    }
  }

  async #removeFiles(beforeMs: number): Promise<number> {
    let removed = 0
    let batch: string[] = []
    const removeBatch = async () => {
      const retained = await this.#deps.expired.retainedAmong(batch, beforeMs)
      for (const id of batch) if (!retained.has(id)) await this.#deps.files.remove(id)
      removed += batch.length - retained.size
      batch = []
    }
    for await (const id of this.#deps.files.madeBefore(beforeMs)) {
      batch.push(id)
      if (batch.length === atOnce) await removeBatch()
    }
    if (batch.length > 0) await removeBatch()
    return removed
  }
}
