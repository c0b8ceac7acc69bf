/** Reads finished recordings from the bucket if it is configured, else from files. */
import type { Clock, Log } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import type { RecordingBucket, RecordingContent, Recordings } from '../records/recording.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { RecordingLinks } from './recording-links.ts'

export type StoredRecordingsDeps = {
  files: Pick<Recordings, 'find'>
  /** Null if recordings are kept as files. */
  bucket: Pick<RecordingBucket, 'find' | 'link'> | null
  links: RecordingLinks
  /** Resolves with true if the call's organization is disabled. */
  isDisabled: (callId: string) => Promise<boolean>
  clock: Clock
  log: Log
}

/** `url` is a path at this server, or an absolute URL of the bucket. */
export type RecordingLink = { url: string; expiresAtMs: number }

export class StoredRecordings {
  readonly #deps: StoredRecordingsDeps

  constructor(deps: StoredRecordingsDeps) {
    this.#deps = deps
  }

  /**
   * Finds a recording in the bucket, else among the files: a recording made before the bucket was configured is still a
   * file. Throws ResourceFault `recording_unreachable`.
   */
  async find(tenant: Tenant, callId: string): Promise<RecordingContent | null> {
    return (await this.#findInBucket(tenant, callId)) ?? this.#deps.files.find(callId)
  }

  /**
   * Makes a link that works without a key for `lifeS` seconds, at most `linkLifeSMax`. Resolves with null if there is
   * no such recording. Throws ResourceFault `recording_unreachable`.
   */
  async link(tenant: Tenant, callId: string, lifeS: number): Promise<RecordingLink | null> {
    const { bucket, files, links, clock } = this.#deps
    const nowS = Math.floor(clock.nowMs() / 1000)
    const expiresAtMs = (nowS + lifeS) * 1000
    if (bucket !== null && (await this.#findInBucket(tenant, callId)) !== null)
      return { url: await bucket.link({ ...tenant, id: callId }, lifeS), expiresAtMs }
    if ((await files.find(callId)) === null) return null
    return { url: links.sign(callId, nowS + lifeS), expiresAtMs }
  }

  /**
   * Finds the recording for a signed link. Throws ResourceFault `link_expired`, or `not_found` if the link is forged,
   * the recording is gone, or its organization is disabled.
   */
  async linked(callId: string, expires: string, signature: string): Promise<RecordingContent> {
    const state = this.#deps.links.check(callId, expires, signature)
    if (state === 'expired') throw new ResourceFault({ kind: 'link_expired' })
    const isServed = state === 'good' && !(await this.#deps.isDisabled(callId))
    const content = isServed ? await this.#deps.files.find(callId) : null
    if (content === null) throw new ResourceFault({ kind: 'not_found' })
    return content
  }

  async #findInBucket({ organizationId, test }: Tenant, id: string): Promise<RecordingContent | null> {
    const { bucket, log } = this.#deps
    try {
      return bucket === null ? null : await bucket.find({ organizationId, test, id })
    } catch (err) {
      log.warn({ err, callId: id }, 'the bucket of the recordings cannot be read')
      throw new ResourceFault({ kind: 'recording_unreachable' })
    }
  }
}
