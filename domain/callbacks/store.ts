/** Stored callbacks. They are created with a call's entries (`CallStore.append`). A malformed id counts as unknown. */
import type { Callback, WholeCallback } from '../records/callback.ts'
import type { Tenant } from '../records/organization.ts'
import type { CallbackStatus } from '../records/states/callback.ts'
import type { Placed } from './moves.ts'

/** All given fields must match. */
export type CallbackFilter = { status?: CallbackStatus; sourceSessionId?: string }

/** Callbacks with the same time are ordered by id. */
export type CallbackPosition = { createdAtMs: number; id: string }
export type CallbackPage = { callbacks: readonly WholeCallback[]; next: CallbackPosition | null }

/** `payload` goes into the event, beside the callback's id. */
export type CallbackChange = { callback: Callback; payload?: Record<string, unknown> }

/** `isDialed`: the carrier has accepted the call. */
export type PlacedAttempt = Placed & { isDialed: boolean }

export interface CallbackStore {
  find(tenant: Tenant, id: string): Promise<WholeCallback | null>
  /** Finds the call of an attempt by its lease id. Null if the attempt placed no call. */
  attempt(callback: Callback): Promise<PlacedAttempt | null>
  /** Newest first, starting after `after`. */
  list(tenant: Tenant, filter: CallbackFilter, limit: number, after: CallbackPosition | null): Promise<CallbackPage>
  /** The session's last promised callback. */
  ofSession(tenant: Tenant, sessionId: string): Promise<WholeCallback | null>
  /**
   * Holds the callback against other writers between read and write. Stores the new status as an event of its session
   * in the same transaction. If `change` throws, nothing is written. Null if the callback does not exist.
   */
  change(tenant: Tenant, id: string, change: (callback: Callback) => CallbackChange): Promise<WholeCallback | null>
  /**
   * Changes callbacks that are due or whose lease has run out, in all organizations, oldest first, each with its event.
   * If another process is changing a callback now, it is skipped.
   */
  changeDue(limit: number, change: (callback: Callback) => Callback): Promise<readonly Callback[]>
}
