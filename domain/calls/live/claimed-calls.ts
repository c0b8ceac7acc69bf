/**
 * Tracks calls between their claim by this process and the beginning of their conversations. A failed release is
 * repeated, because otherwise the call would wait for ever: this process would not use the call, and no other process
 * could claim it. If the call's end is requested meanwhile, the call ends when its conversation begins or when the call
 * is released. If this fails, it is repeated together with the release.
 */
import type { Log } from '../../ports/system.ts'
import type { Tenant } from '../../records/organization.ts'
import type { Pipeline } from '../../records/pipeline.ts'
import type { EndReason } from '../../records/states/call.ts'
import type { CallStore } from '../store.ts'

export type ClaimedCallsDeps = {
  calls: Pick<CallStore, 'claim' | 'release'> & {
    endUnowned(tenant: Tenant, id: string, reason: EndReason, clientReason?: string): Promise<unknown>
  }
  log: Log
  /** This process's id among the processes with the same database. */
  ownerId: string
}

export type EndRequest = { reason: EndReason; clientReason: string | undefined }

type Claimed = { tenant: Tenant; end: EndRequest | null }
type Release = { tenant: Tenant; hasFailed: boolean }

/** The maximum number of unfinished releases. At the limit, the oldest release is forgotten. */
const releasesMax = 10_000

export class ClaimedCalls {
  readonly #deps: ClaimedCallsDeps
  readonly #claimed = new Map<string, Claimed>()
  /**
   * Unfinished releases by call id. A repeated release moves to the end, so a release that always fails does not block
   * others.
   */
  readonly #releases = new Map<string, Release>()

  constructor(deps: ClaimedCallsDeps) {
    this.#deps = deps
  }

  /** Makes this process the call's owner. A failed release of the call is forgotten, so it is not repeated. */
  async claim({ organizationId, test }: Tenant, id: string, pipeline: Pipeline | null): Promise<boolean> {
    const { calls, ownerId } = this.#deps
    const tenant = { organizationId, test }
    const isNew = !this.#claimed.has(id)
    this.#releases.delete(id)
    if (isNew) this.#claimed.set(id, { tenant, end: null })
    try {
      const isOurs = await calls.claim(tenant, id, ownerId, pipeline)
      if (!isOurs && isNew) this.#claimed.delete(id)
      return isOurs
    } catch (error) {
      // The claim may be stored although the database's answer was lost, so the call must be released.
      this.#note(id, { tenant, hasFailed: true })
      throw error
    }
  }

  /**
   * Ends a call as soon as its conversation has begun or the call is released. Returns false if the call is not claimed
   * here.
   */
  end({ organizationId, test }: Tenant, id: string, end: EndRequest): boolean {
    const claimed = this.#claimed.get(id)
    if (claimed?.tenant.organizationId !== organizationId || claimed.tenant.test !== test) return false
    claimed.end ??= end
    return true
  }

  /**
   * Called when the call's conversation has begun. If an end was requested before, returns the request: the
   * conversation must then end at once.
   */
  begun(id: string): EndRequest | null {
    const end = this.#claimed.get(id)?.end ?? null
    this.#claimed.delete(id)
    return end
  }

  /**
   * Releases and ends a call that could not begin because of a defect in this server. A second join would fail in the
   * same way. If the database refuses this, `releaseAgain` repeats it. Never rejects.
   */
  async abandon({ organizationId, test }: Tenant, id: string): Promise<void> {
    const end = this.#claimed.get(id)?.end ?? { reason: 'pipeline_failed', clientReason: undefined }
    this.#claimed.set(id, { tenant: { organizationId, test }, end })
    await this.release({ organizationId, test }, id)
  }

  /**
   * Releases a claimed call, or ends it if an end was requested. If the database refuses this, `releaseAgain` repeats
   * it. Never rejects.
   */
  async release({ organizationId, test }: Tenant, id: string): Promise<void> {
    const { log } = this.#deps
    const release = { tenant: { organizationId, test }, hasFailed: false }
    this.#note(id, release)
    try {
      await this.#giveBack(release.tenant, id)
      if (this.#releases.get(id) === release) this.#releases.delete(id)
    } catch (err) {
      release.hasFailed = true
      log.error({ err, callId: id }, 'a call that did not begin was not released or ended')
    }
  }

  /** Repeats the failed releases. Stops at the next failure, because the database is unreachable. Never rejects. */
  async releaseAgain(): Promise<void> {
    for (const [id, { tenant, hasFailed }] of this.#releases) {
      if (!hasFailed) continue
      await this.release(tenant, id)
      if (this.#releases.has(id)) return
    }
  }

  async #giveBack(tenant: Tenant, id: string): Promise<void> {
    const { calls, ownerId } = this.#deps
    const claimed = this.#claimed.get(id)
    await calls.release(tenant, id, ownerId)
    if (claimed?.end) await calls.endUnowned(tenant, id, claimed.end.reason, claimed.end.clientReason)
    if (this.#claimed.get(id) === claimed) this.#claimed.delete(id)
  }

  #note(id: string, release: Release): void {
    this.#releases.delete(id)
    this.#releases.set(id, release)
    const [oldest] = this.#releases.keys()
    if (this.#releases.size <= releasesMax || oldest === undefined) return
    this.#releases.delete(oldest)
    this.#claimed.delete(oldest)
  }
}
