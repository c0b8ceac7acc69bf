/** Reads finished recordings from the bucket if it is configured, else from files. */
import type { Clock, Log } from '../ports/system.ts'
import { Fault } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import type { RecordingBucket, RecordingContent, RecordingPlace, Recordings } from '../records/recording.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import type { RecordingLinks } from './recording-links.ts'
import { areCompletePeaks, type InTurn, PeaksWork, peaksOf } from './recording-peaks.ts'

export type StoredRecordingsDeps = {
  files: Pick<Recordings, 'find' | 'findPeaks' | 'keepPeaks' | 'remove'>
  /** Null if recordings are kept as files. */
  bucket: Pick<RecordingBucket, 'find' | 'link' | 'findPeaks' | 'keepPeaks' | 'remove'> | null
  links: RecordingLinks
  /** Resolves with true if the call's organization is disabled. */
  isDisabled: (callId: string) => Promise<boolean>
  /** Runs computations of peaks. Each computation reads a whole recording, up to 900 MB. */
  peaksInTurn: InTurn
  clock: Clock
  log: Log
}

/** `url` is a path at this server, or an absolute URL of the bucket. */
export type RecordingLink = { url: string; expiresAtMs: number }

/** The storage for the peaks of a recording's waveform, beside the recording. */
type PeaksShelf = {
  find: () => Promise<Uint8Array | null>
  keep: (peaks: Uint8Array) => Promise<void>
  hasRecording: () => Promise<boolean>
  remove: () => Promise<void>
}

export class StoredRecordings {
  readonly #deps: StoredRecordingsDeps
  readonly #peaksWork: PeaksWork

  constructor(deps: StoredRecordingsDeps) {
    this.#deps = deps
    this.#peaksWork = new PeaksWork(deps.peaksInTurn)
  }

  /**
   * Finds a recording in the bucket, else among the files: a recording made before the bucket was configured is still a
   * file. Throws ResourceFault `recording_unreachable`.
   */
  async find(tenant: Tenant, callId: string): Promise<RecordingContent | null> {
    return (await this.#findInBucket(tenant, callId)) ?? this.#deps.files.find(callId)
  }

  /**
   * Finds the peaks of the recording's waveform. If they were not written with the recording, they are computed and
   * kept. Resolves with null if there is no such recording. Throws ResourceFault `recording_unreachable`, and Fault
   * `overloaded` if the peaks of too many recordings are being computed.
   */
  async peaks(tenant: Tenant, callId: string): Promise<Uint8Array | null> {
    const inBucket = await this.#findInBucket(tenant, callId)
    const recording = inBucket ?? (await this.#deps.files.find(callId))
    if (recording === null) return null
    const place = { ...tenant, id: callId }
    if (inBucket === null) return this.#peaksAt(place, this.#shelfOfFile(callId), recording)
    return this.#reached(callId, () => this.#peaksAt(place, this.#shelfInBucket(place), recording))
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

  async #peaksAt(
    { organizationId, id }: RecordingPlace,
    shelf: PeaksShelf,
    recording: RecordingContent,
  ): Promise<Uint8Array> {
    const kept = await shelf.find()
    if (kept !== null && areCompletePeaks(kept, recording.size)) return kept
    return this.#peaksWork.run(organizationId, id, async () => {
      const made = await peaksOf(recording)
      await this.#keep(id, shelf, made)
      return made
    })
  }

  /** Keeps computed peaks, unless the recording was removed in the meantime. */
  async #keep(callId: string, shelf: PeaksShelf, peaks: Uint8Array): Promise<void> {
    try {
      await shelf.keep(peaks)
      if (!(await shelf.hasRecording())) await shelf.remove()
    } catch (err) {
      this.#deps.log.warn({ err, callId }, 'the peaks of a recording could not be kept')
    }
  }

  #shelfOfFile(callId: string): PeaksShelf {
    const { files } = this.#deps
    return {
      find: () => files.findPeaks(callId),
      keep: (peaks) => files.keepPeaks(callId, peaks),
      hasRecording: async () => (await files.find(callId)) !== null,
      remove: () => files.remove(callId),
    }
  }

  #shelfInBucket(place: RecordingPlace): PeaksShelf {
    const bucket = this.#deps.bucket!
    return {
      find: () => bucket.findPeaks(place),
      keep: (peaks) => bucket.keepPeaks(place, peaks),
      hasRecording: async () => (await bucket.find(place)) !== null,
      remove: () => bucket.remove(place),
    }
  }

  #findInBucket({ organizationId, test }: Tenant, id: string): Promise<RecordingContent | null> {
    const { bucket } = this.#deps
    if (bucket === null) return Promise.resolve(null)
    return this.#reached(id, () => bucket.find({ organizationId, test, id }))
  }

  /** Throws ResourceFault `recording_unreachable` if the bucket cannot be read. */
  async #reached<Found>(callId: string, read: () => Promise<Found>): Promise<Found> {
    try {
      return await read()
    } catch (err) {
      if (err instanceof Fault) throw err
      this.#deps.log.warn({ err, callId }, 'the bucket of the recordings cannot be read')
      throw new ResourceFault({ kind: 'recording_unreachable' })
    }
  }
}
