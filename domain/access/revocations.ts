/**
 * Ends open work, such as sockets and event streams, when its credential is no longer valid: the key was revoked, its
 * secret has ended, the user was removed or lost the required role, or the organization was disabled. The database
 * notifies every process of a change. This process then reads the credentials of the organization's open work again.
 */
import type { Clock, Log } from '../ports/system.ts'
import type { Caller, KeySecret } from '../records/organization.ts'
import { type Access, hasAccess } from './users.ts'

/**
 * The right to continue open work, such as a socket. `keyId` names an API key or a user. Without a `secret`, the work
 * goes on after the key's rotation, because ephemeral tokens are bound to the key and not to its secret.
 */
export type Grant = { organizationId: string; keyId: string; access: Access; secret?: KeySecret | undefined }

export interface KeyChanges {
  /**
   * Calls `changed` after each change to an organization's credentials. `changed` receives null if the credentials of
   * any organization may have changed.
   */
  watch(changed: (organizationId: string | null) => void): void
}

export interface LiveCallers {
  /**
   * Finds keys and users in the database, never in a cache. The result does not contain revoked or unknown ids. A key
   * with two valid secrets is returned twice, once for each secret.
   */
  findEach(organizationId: string, keyIds: readonly string[]): Promise<readonly Caller[]>
}

/** Calls `revoked` once if the grant becomes invalid. The returned function stops the watch. */
export type WatchGrant = (grant: Grant, revoked: () => void) => () => void

export type RevocationDeps = { changes: KeyChanges; keys: LiveCallers; clock: Clock; log: Log }

type Work = Grant & { revoked: () => void; cancelEnd: () => void }

/** The credentials of at most this many organizations are read at the same time. The other organizations wait. */
const readsMax = 8
/** A timer cannot run longer than 24 days, so a secret's expiry is checked once a day. */
const dayMs = 86_400_000
/** The pause after a failed read. */
const retryMs = 500
/**
 * The longest duration of an admission. A credential may change after new work is admitted and before its watch begins.
 * So if the organization's last change is more recent than this, the credential is read again when the watch begins.
 */
const admissionMs = 60_000

export class Revocations {
  readonly #deps: RevocationDeps
  /** Open work by organization and key. */
  readonly #open = new Map<string, Map<string, Set<Work>>>()
  /** The ids of keys and users to read from the database, by organization. */
  readonly #due = new Map<string, Set<string>>()
  #reads = 0
  /** The time of each organization's last change, oldest first. Only recent changes are kept. */
  readonly #changedMs = new Map<string, number>()
  #allChangedMs = Number.NEGATIVE_INFINITY
  #cancelRetry: (() => void) | null = null
  #isClosed = false

  constructor(deps: RevocationDeps) {
    this.#deps = deps
    deps.changes.watch((organizationId) => this.#changed(organizationId))
  }

  readonly watch: WatchGrant = (grant, revoked) => {
    const { organizationId, keyId, secret } = grant
    const keys = this.#open.get(organizationId) ?? new Map<string, Set<Work>>()
    const works = keys.get(keyId) ?? new Set<Work>()
    const work = { ...grant, revoked, cancelEnd: () => {} }
    this.#open.set(organizationId, keys.set(keyId, works.add(work)))
    this.#endLater(work, secret?.endsAtMs ?? null)
    if (this.#hasChanged(organizationId)) this.#check(organizationId, [keyId])
    return () => this.#forget(work)
  }

  /** Stops reading credentials. A running read fails when the store closes, and is not repeated. */
  close(): void {
    this.#isClosed = true
    this.#cancelRetry?.()
    for (const keys of this.#open.values())
      for (const works of keys.values()) for (const { cancelEnd } of works) cancelEnd()
    this.#open.clear()
    this.#due.clear()
  }

  #changed(organizationId: string | null): void {
    this.#noteChange(organizationId)
    const changed = organizationId === null ? [...this.#open.keys()] : [organizationId]
    for (const id of changed) this.#check(id, this.#open.get(id)?.keys() ?? [])
  }

  #noteChange(organizationId: string | null): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const [id, changedMs] of this.#changedMs) {
      if (nowMs - changedMs < admissionMs) break
      this.#changedMs.delete(id)
    }
    if (organizationId === null) this.#allChangedMs = nowMs
    else {
      this.#changedMs.delete(organizationId)
      this.#changedMs.set(organizationId, nowMs)
    }
  }

  /** Returns true if the organization's credentials may have changed during the admission of new work. */
  #hasChanged(organizationId: string): boolean {
    const changedMs = Math.max(this.#allChangedMs, this.#changedMs.get(organizationId) ?? Number.NEGATIVE_INFINITY)
    return this.#deps.clock.monotonicMs() - changedMs < admissionMs
  }

  #check(organizationId: string, keyIds: Iterable<string>): void {
    const due = this.#due.get(organizationId) ?? new Set<string>()
    for (const keyId of keyIds) due.add(keyId)
    if (due.size === 0) return
    this.#due.set(organizationId, due)
    this.#readDue()
  }

  #readDue(): void {
    for (const [organizationId, keyIds] of this.#due) {
      if (this.#reads >= readsMax || this.#cancelRetry !== null) return
      this.#due.delete(organizationId)
      this.#reads += 1
      void this.#read(organizationId, keyIds).finally(() => {
        this.#reads -= 1
        this.#readDue()
      })
    }
  }

  /**
   * Reads the current rights of these keys and users, and ends work that has lost its right. Never rejects. A failed
   * read is repeated, because a revoked credential must not stay in use.
   */
  async #read(organizationId: string, keyIds: ReadonlySet<string>): Promise<void> {
    try {
      const callers = await this.#deps.keys.findEach(organizationId, [...keyIds])
      const found = new Map<string, Caller[]>()
      for (const caller of callers) found.set(caller.keyId, [...(found.get(caller.keyId) ?? []), caller])
      for (const keyId of keyIds) this.#endWork(organizationId, keyId, found.get(keyId) ?? [])
    } catch (err) {
      if (this.#isClosed) return
      this.#deps.log.error({ err, organizationId }, 'the credentials of open sockets were not read again')
      this.#cancelRetry ??= this.#deps.clock.after(retryMs, () => {
        this.#cancelRetry = null
        this.#readDue()
      })
      this.#check(organizationId, keyIds)
    }
  }

  /**
   * Ends the open work of a key or user whose current rights no longer allow the work. `callers` has the current
   * rights, one entry for each valid secret. It is empty if the key or user is gone.
   */
  #endWork(organizationId: string, keyId: string, callers: readonly Caller[]): void {
    for (const work of [...(this.#open.get(organizationId)?.get(keyId) ?? [])]) {
      const { secret: presented, access } = work
      const caller = callers.find(({ secret }) => presented === undefined || secret?.id === presented.id) ?? null
      if (!isGood(caller, access)) this.#end(work)
      else if (presented !== undefined) this.#endLater(work, caller.secret?.endsAtMs ?? null)
    }
  }

  /** Ends the work when its secret expires at `endsAtMs`, on the wall clock. Null: the secret does not expire. */
  #endLater(work: Work, endsAtMs: number | null): void {
    work.cancelEnd()
    if (endsAtMs === null) return
    const leftMs = endsAtMs - this.#deps.clock.nowMs()
    work.cancelEnd = this.#deps.clock.after(Math.min(Math.max(leftMs, 0), dayMs), () =>
      leftMs > dayMs ? this.#endLater(work, endsAtMs) : this.#end(work),
    )
  }

  #end(work: Work): void {
    const { organizationId, keyId } = work
    this.#forget(work)
    try {
      work.revoked()
    } catch (err) {
      this.#deps.log.error({ err, organizationId, keyId }, 'the work of a revoked key did not end')
    }
  }

  #forget(work: Work): void {
    const { organizationId, keyId } = work
    work.cancelEnd()
    const keys = this.#open.get(organizationId)
    const works = keys?.get(keyId)
    works?.delete(work)
    if (works?.size === 0) keys?.delete(keyId)
    if (keys?.size === 0) this.#open.delete(organizationId)
  }
}

/** Returns true if the key's or user's current rights allow the work. `caller` is null if the key or user is gone. */
export function isGood(caller: Caller | null, access: Access): caller is Caller {
  return caller !== null && !caller.organization.isDisabled && hasAccess(caller, access)
}

/** Returns the grant behind a request or socket that was admitted with this access. */
export function grantOf({ organization, keyId, secret }: Caller, access: Access): Grant {
  return { organizationId: organization.id, keyId, access, secret }
}
