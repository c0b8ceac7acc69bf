/** Computes a callback's next state when a process claims it and when an attempt to place it ends. */
import type { Callback, PlacingFailure } from '../records/callback.ts'
import type { NotDialed } from '../records/not-dialed.ts'
import { type CallbackStatus, mayMove } from '../records/states/callback.ts'

/** If an attempt has no result after this time, its process counts as dead. */
export const leaseMs = 30_000
const minuteMs = 60_000
/** The waits between tries. A due callback is tried at its time, and 1, 5 and 15 minutes later. */
const waitsMs = [minuteMs, 4 * minuteMs, 10 * minuteMs] as const
const triesMax = waitsMs.length + 1
/** If a callback is overdue by more than this, it is not placed, because the person no longer expects it. */
const lateMsMax = 60 * minuteMs

/** The call's session, and the number from which the call went out. */
export type Placed = { sessionId: string; phoneNumberId: string; fromNumber: string }
/** `why`: the reason for the carrier's refusal. */
/** `sessionId`: the call's session, if the carrier did not accept the call. */
export type Placing = Placed | { failure: PlacingFailure; why?: NotDialed; sessionId?: string }

/**
 * Prepares a callback for an attempt by this process, if it is due or another process's lease has run out. If it is not
 * due yet, it becomes scheduled again. If it is too late, it fails.
 */
export function claimed(callback: Callback, leaseId: string, nowMs: number): Callback {
  // A process died while it placed the callback early at a client's request, so the callback waits for its time.
  if (callback.nextTryAtMs > nowMs) return moved(callback, 'scheduled', nowMs, { lease: callback.lease })
  if (nowMs > callback.scheduledAtMs + lateMsMax) return moved(callback, 'failed', nowMs, { failureCause: 'missed' })
  // A process died during the last try.
  if (callback.tries >= triesMax) return moved(callback, 'failed', nowMs, { failureCause: 'carrier_error' })
  return leased({ ...callback, tries: callback.tries + 1 }, leaseId, nowMs)
}

/**
 * Begins an attempt, or continues an attempt without a stored result. If a client requested the attempt, it does not
 * count as one of the callback's tries.
 */
export function leased(callback: Callback, leaseId: string, nowMs: number): Callback {
  return moved(callback, 'dispatching', nowMs, {
    attemptedAtMs: nowMs,
    failureCause: null,
    lease: { id: callback.lease?.id ?? leaseId, untilMs: nowMs + leaseMs },
  })
}

/**
 * Applies an attempt's result. `isDue` is true if the attempt was made because the callback was due, and false if a
 * client requested it. If the last due attempt fails, the callback has failed.
 */
export function settled(callback: Callback, placing: Placing, isDue: boolean, nowMs: number): Callback {
  if (!('failure' in placing)) {
    const { sessionId: createdSessionId, phoneNumberId, fromNumber } = placing
    const change = { createdSessionId, phoneNumberId, fromNumber, failureCause: null, dispatchedAtMs: nowMs }
    return moved(callback, 'dispatched', nowMs, change)
  }
  const { failure: failureCause } = placing
  if (!isDue) return moved(callback, 'scheduled', nowMs, { failureCause })
  const waitMs = waitsMs[callback.tries - 1]
  const nextTryAtMs = (callback.attemptedAtMs ?? nowMs) + (waitMs ?? 0)
  const isOver = waitMs === undefined || nextTryAtMs > callback.scheduledAtMs + lateMsMax
  return isOver
    ? moved(callback, 'failed', nowMs, { failureCause })
    : moved(callback, 'scheduled', nowMs, { failureCause, nextTryAtMs })
}

export function cancelled(callback: Callback, nowMs: number): Callback {
  return moved(callback, 'cancelled', nowMs, { cancelledAtMs: nowMs })
}

/** Moves the callback to a status. Throws if the state table forbids this. */
function moved(callback: Callback, to: CallbackStatus, nowMs: number, change: Partial<Callback>): Callback {
  if (!mayMove(callback.status, to)) throw new Error(`a callback that is ${callback.status} cannot be ${to}`)
  return { ...callback, lease: null, ...change, status: to, updatedAtMs: Math.max(nowMs, callback.updatedAtMs) }
}
