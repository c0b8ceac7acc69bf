/** The moves of a callback as pure functions: who takes it when, and what its attempts lead to. */
import type { Callback, PlacingFailure } from '../records/callback.ts'
import type { NotDialed } from '../records/not-dialed.ts'
import { type CallbackStatus, mayMove } from '../records/states/callback.ts'

/** A process that has not settled an attempt by then is taken for dead. */
export const leaseMs = 30_000
const minuteMs = 60_000
/** A due call is tried at its time and 1, 5 and 15 minutes later: these are the waits between two tries. */
const waitsMs = [minuteMs, 4 * minuteMs, 10 * minuteMs] as const
const triesMax = waitsMs.length + 1
/** Nobody expects a call that is later than this. */
const lateMsMax = 60 * minuteMs

/** The number that the call was placed from, and its session. */
export type Placed = { sessionId: string; phoneNumberId: string; fromNumber: string }
/** `why`: what the carrier has against the call. */
/** `sessionId` is the call that was made and not taken. */
export type Placing = Placed | { failure: PlacingFailure; why?: NotDialed; sessionId?: string }

/**
 * Takes a callback that is due or whose lease has run out, so that this process places the call. One that is not due any
 * more or too late is given back or given up.
 */
export function taken(callback: Callback, leaseId: string, nowMs: number): Callback {
  // A process died with an attempt that a request had asked for before the time. At the time it is looked for.
  if (callback.nextTryAtMs > nowMs) return moved(callback, 'scheduled', nowMs, { lease: callback.lease })
  if (nowMs > callback.scheduledAtMs + lateMsMax) return moved(callback, 'failed', nowMs, { failureCause: 'missed' })
  // The process of the last try died.
  if (callback.tries >= triesMax) return moved(callback, 'failed', nowMs, { failureCause: 'carrier_error' })
  return leased({ ...callback, tries: callback.tries + 1 }, leaseId, nowMs)
}

/** Begins an attempt, or goes on with one whose end nobody has stored. One that a request asked for is no try. */
export function leased(callback: Callback, leaseId: string, nowMs: number): Callback {
  return moved(callback, 'dispatching', nowMs, {
    attemptedAtMs: nowMs,
    failureCause: null,
    lease: { id: callback.lease?.id ?? leaseId, untilMs: nowMs + leaseMs },
  })
}

/** The end of an attempt. `isDue`: it was a try, and the last one decides. */
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

/** Throws where the table of the states forbids the move. */
function moved(callback: Callback, to: CallbackStatus, nowMs: number, change: Partial<Callback>): Callback {
  if (!mayMove(callback.status, to)) throw new Error(`a callback that is ${callback.status} cannot be ${to}`)
  return { ...callback, lease: null, ...change, status: to, updatedAtMs: Math.max(nowMs, callback.updatedAtMs) }
}
