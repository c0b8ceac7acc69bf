/** The stored callbacks. They are made with the entries of a call (`CallStore.append`). An id of another form is an unknown one. */
import type { Callback, WholeCallback } from '../records/callback.ts'
import type { Tenant } from '../records/organization.ts'
import type { CallbackStatus } from '../records/states/callback.ts'
import type { Placed } from './moves.ts'

/** All that are given must hold. */
export type CallbackFilter = { status?: CallbackStatus; sourceSessionId?: string }

/** Orders callbacks of one time by their id. */
export type CallbackPosition = { createdAtMs: number; id: string }
export type CallbackPage = { callbacks: readonly WholeCallback[]; next: CallbackPosition | null }

/** `payload` is for the event, beside the id of the callback. */
export type CallbackChange = { callback: Callback; payload?: Record<string, unknown> }

/** `isDialed`: the carrier has taken the call. */
export type PlacedAttempt = Placed & { isDialed: boolean }

export interface CallbackStore {
  find(tenant: Tenant, id: string): Promise<WholeCallback | null>
  /** The call of an attempt, by the id of its lease. Null: it made none. */
  attempt(callback: Callback): Promise<PlacedAttempt | null>
  /** Newest first, from behind `after` on. */
  list(tenant: Tenant, filter: CallbackFilter, limit: number, after: CallbackPosition | null): Promise<CallbackPage>
  /** The last one that was promised in this session. */
  ofSession(tenant: Tenant, sessionId: string): Promise<WholeCallback | null>
  /**
   * Nobody else changes the callback between its reading and its writing. The new status is an event of its session in the
   * same transaction. If `change` throws, all stays as it was. Null: there is no such callback.
   */
  change(tenant: Tenant, id: string, change: (callback: Callback) => CallbackChange): Promise<WholeCallback | null>
  /**
   * Changes callbacks of all organizations that are due or whose lease has run out, the oldest first, each with its event.
   * Those that another process changes at this moment are left to it.
   */
  changeDue(limit: number, change: (callback: Callback) => Callback): Promise<readonly Callback[]>
}
