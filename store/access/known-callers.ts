/**
 * Caches the API clients whose keys were checked. An entry is fresh for `keyCacheMs`. While the database is unreachable
 * it is valid for longer, up to `keysKeptMs`.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../domain/ports/system.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { KeyChange } from '../caches/key-changes.ts'
import { createLru, type Lru } from '../caches/lru.ts'
import type { Digested } from './key-secret.ts'

export type KeyCacheLimits = {
  keyCacheMs: number
  keyCacheMax: number
  /** While the database is unreachable, a checked key is accepted for this long. */
  keysKeptMs: number
}

/** `generation` counts how often notifications may have been missed. An entry with an older generation is not fresh. */
type Remembered = { digest: Buffer; caller: Caller; untilMs: number; keptUntilMs: number; generation: number }

export class KnownCallers {
  readonly #limits: KeyCacheLimits
  readonly #clock: Clock
  readonly #entries: Lru<Remembered>
  #generation = 0

  constructor(limits: KeyCacheLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
    this.#entries = createLru(limits.keyCacheMax)
  }

  fresh(presented: Digested): Caller | null {
    const entry = this.#entries.get(presented.lookup)
    if (!entry || entry.untilMs <= this.#clock.nowMs() || entry.generation !== this.#generation) return null
    return timingSafeEqual(entry.digest, presented.digest) ? entry.caller : null
  }

  /** Returns the API client if its key was known before the database became unreachable. */
  kept(presented: Digested): Caller | null {
    const entry = this.#entries.get(presented.lookup)
    if (!entry || entry.keptUntilMs <= this.#clock.nowMs()) return null
    return timingSafeEqual(entry.digest, presented.digest) ? entry.caller : null
  }

  remember({ lookup, digest }: Digested, caller: Caller, expiresAt: Date | null): void {
    const nowMs = this.#clock.nowMs()
    const lastMs = expiresAt?.getTime() ?? Number.POSITIVE_INFINITY
    this.#entries.set(lookup, {
      digest,
      caller,
      untilMs: Math.min(nowMs + this.#limits.keyCacheMs, lastMs),
      keptUntilMs: Math.min(nowMs + this.#limits.keysKeptMs, lastMs),
      generation: this.#generation,
    })
  }

  /** Drops a cached key if its database row no longer exists: the revocation's notification may have been missed. */
  drop(presented: Digested): void {
    const entry = this.#entries.get(presented.lookup)
    if (entry && timingSafeEqual(entry.digest, presented.digest)) this.#entries.delete(presented.lookup)
  }

  forget(change: KeyChange): void {
    if ('lookup' in change) this.#entries.delete(change.lookup)
    else if ('organizationId' in change)
      this.#entries.deleteWhere(({ caller }) => caller.organization.id === change.organizationId)
    else this.#entries.clear()
  }

  /** Call this if notifications may have been missed. Each key is then read again before its next use. */
  missed(): void {
    this.#generation += 1
  }
}
