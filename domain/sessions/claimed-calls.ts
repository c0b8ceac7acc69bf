/**
 * The calls that this process owns before their conversations begin. One whose release has failed would wait for ever: no
 * other process may have it, and this one does not. Its release is repeated.
 */
import type { Tenant } from '../access/organization.ts'
import type { CallStore } from '../calls/store.ts'
import type { Log } from '../ports/system.ts'
import type { Pipeline } from './pipeline.ts'

export type ClaimedCallsDeps = { calls: Pick<CallStore, 'claim' | 'release'>; log: Log; ownerId: string }

type Release = { tenant: Tenant; hasFailed: boolean }

/** Releases that wait to be repeated. The oldest of more is forgotten. */
const releasesMax = 10_000

export class ClaimedCalls {
  readonly #deps: ClaimedCallsDeps
  /** Releases that are not done, by call. The newest is the last, so one that always fails is in the way of no other. */
  readonly #releases = new Map<string, Release>()

  constructor(deps: ClaimedCallsDeps) {
    this.#deps = deps
  }

  /** A release that has failed is not repeated from now on. */
  async claim({ organizationId, test }: Tenant, id: string, pipeline: Pipeline | null): Promise<boolean> {
    const { calls, ownerId } = this.#deps
    const tenant = { organizationId, test }
    this.#releases.delete(id)
    try {
      return await calls.claim(tenant, id, ownerId, pipeline)
    } catch (error) {
      // It may be stored all the same.
      this.#note(id, { tenant, hasFailed: true })
      throw error
    }
  }

  /** Never rejects. */
  async release({ organizationId, test }: Tenant, id: string): Promise<void> {
    const { calls, log, ownerId } = this.#deps
    const release = { tenant: { organizationId, test }, hasFailed: false }
    this.#note(id, release)
    try {
      await calls.release(release.tenant, id, ownerId)
      if (this.#releases.get(id) === release) this.#releases.delete(id)
    } catch (err) {
      release.hasFailed = true
      log.error({ err, callId: id }, 'a call that did not begin was not released')
    }
  }

  /** Stops at the first that fails again: the database is away. Never rejects. */
  async releaseAgain(): Promise<void> {
    for (const [id, { tenant, hasFailed }] of this.#releases) {
      if (!hasFailed) continue
      await this.release(tenant, id)
      if (this.#releases.has(id)) return
    }
  }

  #note(id: string, release: Release): void {
    this.#releases.delete(id)
    this.#releases.set(id, release)
    const [oldest] = this.#releases.keys()
    if (this.#releases.size > releasesMax && oldest !== undefined) this.#releases.delete(oldest)
  }
}
