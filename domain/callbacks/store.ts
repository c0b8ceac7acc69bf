/**
 * Stores callbacks. They are created together with a call's entries (`CallStore.append`). A malformed id is treated as
 * unknown.
 */
import type { Callback, WholeCallback } from '../records/callback.ts'
import type { Tenant } from '../records/organization.ts'
import type { CallbackStatus } from '../records/states/callback.ts'
import type { Placed } from './moves.ts'

/** Selects callbacks. A callback must match all fields that are present. */
export type CallbackFilter = { status?: CallbackStatus; sourceSessionId?: string }

/** A callback's position in a list. Callbacks with the same time are ordered by id. */
export type CallbackPosition = { createdAtMs: number; id: string }
export type CallbackPage = { callbacks: readonly WholeCallback[]; next: CallbackPosition | null }

/** `payload` has further fields for the event about this change. The callback's id is always in the event. */
export type CallbackChange = { callback: Callback; payload?: Record<string, unknown> }

/** `isDialed` is true if the carrier has accepted the call. */
export type PlacedAttempt = Placed & { isDialed: boolean }

export interface CallbackStore {
  find(tenant: Tenant, id: string): Promise<WholeCallback | null>
  /** Finds the call of an attempt by its lease id. Resolves with null if the attempt placed no call. */
  attempt(callback: Callback): Promise<PlacedAttempt | null>
  /** Lists callbacks, newest first. The page begins after the position `after`. */
  list(tenant: Tenant, filter: CallbackFilter, limit: number, after: CallbackPosition | null): Promise<CallbackPage>
  /** Finds the last callback that the agent promised in the session. */
  ofSession(tenant: Tenant, sessionId: string): Promise<WholeCallback | null>
  /**
   * Reads the callback, calls `change` and writes the result, while the row is locked. The new status is stored as an
   * event of the callback's session in the same transaction. If `change` throws, nothing is written. Resolves with null
   * if the callback does not exist.
   */
  change(tenant: Tenant, id: string, change: (callback: Callback) => CallbackChange): Promise<WholeCallback | null>
  /**
   * Changes callbacks in all organizations, oldest first, if they are due or their lease has expired. Each change is
   * stored with its event. If another process is changing a callback now, the callback is skipped.
   */
  changeDue(limit: number, change: (callback: Callback) => Callback): Promise<readonly Callback[]>
}
