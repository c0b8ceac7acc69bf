/**
 * Deletes recordings for their age, counted from the end of their call. The object in the bucket goes first and the row of
 * the call is changed after it, so that nothing is forgotten when a process dies between the two. Files are looked for in
 * the folder of this process, because each machine has its own: also those whose upload failed, and those whose call is
 * no longer known.
 */
import type { Clock, Log } from '../ports/system.ts'
import type { RecordingBucket, RecordingPlace, Recordings } from '../records/recording.ts'
import { keptFromMs } from '../records/retention.ts'

export interface ExpiredRecordings {
  /** Calls that ended before and whose recording is ready, at most `limit`. */
  due(beforeMs: number, limit: number): Promise<readonly RecordingPlace[]>
  /** Writes that these calls have no recording. */
  removed(places: readonly RecordingPlace[]): Promise<void>
  /** Those of the calls that go on, or ended at this time or later. */
  keptAmong(callIds: readonly string[], fromMs: number): Promise<ReadonlySet<string>>
}

export type RecordingRetentionDeps = {
  expired: ExpiredRecordings
  files: Pick<Recordings, 'remove' | 'madeBefore'>
  /** Null: recordings stay files. */
  bucket: Pick<RecordingBucket, 'remove'> | null
  days: number
  clock: Clock
  log: Log
}

const atOnce = 100
/** In the bucket, in one run. */
const removedMax = 5_000

export class RecordingRetention {
  readonly #deps: RecordingRetentionDeps

  constructor(deps: RecordingRetentionDeps) {
    this.#deps = deps
  }

  async run(): Promise<void> {
    const { clock, days, log } = this.#deps
    const beforeMs = keptFromMs(clock.nowMs(), days)
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
    let found: string[] = []
    const removeFound = async () => {
      const kept = await this.#deps.expired.keptAmong(found, beforeMs)
      for (const id of found) if (!kept.has(id)) await this.#deps.files.remove(id)
      removed += found.length - kept.size
      found = []
    }
    for await (const id of this.#deps.files.madeBefore(beforeMs)) {
      found.push(id)
      if (found.length === atOnce) await removeFound()
    }
    if (found.length > 0) await removeFound()
    return removed
  }
}
