/** Recordings that are ready, as they are read. */
import type { Clock } from '../ports/system.ts'
import { ResourceFault } from '../resource-fault.ts'
import type { RecordingLinks } from './recording-links.ts'
import type { RecordingContent, Recordings } from './recordings.ts'

export type StoredRecordingsDeps = {
  files: Pick<Recordings, 'find'>
  links: RecordingLinks
  clock: Clock
}

/** `url` is a path at this server, or an address elsewhere. */
export type RecordingLink = { url: string; expiresAtMs: number }

export class StoredRecordings {
  readonly #deps: StoredRecordingsDeps

  constructor(deps: StoredRecordingsDeps) {
    this.#deps = deps
  }

  find(callId: string): Promise<RecordingContent | null> {
    return this.#deps.files.find(callId)
  }

  /** A link that needs no key. The calling code has found that the recording is ready. `lifeS` is at most `linkLifeSMax`. */
  link(callId: string, lifeS: number): RecordingLink {
    const { links, clock } = this.#deps
    const expiresS = Math.floor(clock.nowMs() / 1000) + lifeS
    return { url: links.sign(callId, expiresS), expiresAtMs: expiresS * 1000 }
  }

  /** Throws ResourceFault `link_expired`, and `not_found` for a link that is not ours or whose recording is gone. */
  async linked(callId: string, expires: string, signature: string): Promise<RecordingContent> {
    const state = this.#deps.links.check(callId, expires, signature)
    if (state === 'expired') throw new ResourceFault({ kind: 'link_expired' })
    const content = state === 'good' ? await this.#deps.files.find(callId) : null
    if (content === null) throw new ResourceFault({ kind: 'not_found' })
    return content
  }
}
