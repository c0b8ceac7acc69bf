/**
 * A scheduled callback's states as one table.
 *
 *   scheduled ◄──► dispatching ──► dispatched, failed
 *       └──► cancelled, failed
 *
 * The process placing the call holds a lease. When the lease has run out, another process takes over: it moves the
 * callback from `dispatching` to `dispatching`.
 */
export const callbackStatuses = ['scheduled', 'dispatching', 'dispatched', 'cancelled', 'failed'] as const
export type CallbackStatus = (typeof callbackStatuses)[number]

const moves: Readonly<Record<CallbackStatus, readonly CallbackStatus[]>> = {
  scheduled: ['dispatching', 'cancelled', 'failed'],
  dispatching: ['dispatching', 'scheduled', 'dispatched', 'failed'],
  dispatched: [],
  cancelled: [],
  failed: [],
}

export function mayMove(from: CallbackStatus, to: CallbackStatus): boolean {
  return moves[from].includes(to)
}
