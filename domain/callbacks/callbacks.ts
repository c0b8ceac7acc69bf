/**
 * Lists, cancels and places callbacks. Any process may place a callback. During the attempt the process holds a lease
 * on the callback, so that no other process places it.
 */
import type { Clock, Log } from '../ports/system.ts'
import type { Callback, PlacingFailure, WholeCallback } from '../records/callback.ts'
import { afterSending, Fault } from '../records/fault.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault, requireResource } from '../records/resource-fault.ts'
import { cancelled, claimed, leased, type Placing, settled } from './moves.ts'
import type { CallbackFilter, CallbackPage, CallbackPosition, CallbackStore } from './store.ts'

/** Places a callback's call. Resolves when the carrier has accepted it, or with the failure. */
export type PlaceCallback = (callback: Callback) => Promise<Placing>

export type CallbacksDeps = {
  store: CallbackStore
  place: PlaceCallback
  clock: Clock
  log: Log
  leaseId: () => string
}

/** One process places at most this many callbacks at the same time. The next run places the other callbacks. */
const placedAtOnceMax = 10

/**
 * Methods for one callback throw ResourceFault `not_found`. Methods that change the callback also throw
 * `callback_not_scheduled`.
 */
export class Callbacks {
  readonly #deps: CallbacksDeps

  constructor(deps: CallbacksDeps) {
    this.#deps = deps
  }

  list(tenant: Tenant, filter: CallbackFilter, limit: number, after: CallbackPosition | null): Promise<CallbackPage> {
    return this.#deps.store.list(tenant, filter, limit, after)
  }

  async get(tenant: Tenant, id: string): Promise<WholeCallback> {
    return requireResource(await this.#deps.store.find(tenant, id))
  }

  async cancel(tenant: Tenant, id: string, reason: string | null): Promise<WholeCallback> {
    const { store, clock } = this.#deps
    const payload = reason === null ? {} : { reason }
    return requireResource(
      await store.change(tenant, id, (callback) => {
        requireScheduled(callback)
        return { callback: cancelled(callback, clock.nowMs()), payload }
      }),
    )
  }

  /**
   * Places the callback now, at a client's request. After a failure the callback stays scheduled. Throws Fault, and
   * ResourceFault `not_dialed`.
   */
  async dispatch(tenant: Tenant, id: string): Promise<WholeCallback> {
    const { store, clock, leaseId } = this.#deps
    const { callback } = requireResource(
      await store.change(tenant, id, (scheduled) => {
        requireScheduled(scheduled)
        return { callback: leased(scheduled, leaseId(), clock.nowMs()) }
      }),
    )
    const placing = await this.#place(callback)
    const whole = await afterSending(this.#settle(callback, placing, false))
    if ('failure' in placing) throw faultOf(placing)
    return requireResource(whole)
  }

  /** Places all due callbacks, for all organizations. */
  async dispatchDue(): Promise<void> {
    const { store, clock, leaseId, log } = this.#deps
    const due = await store.changeDue(placedAtOnceMax, (callback) => claimed(callback, leaseId(), clock.nowMs()))
    const dispatchOne = async (callback: Callback) => {
      try {
        await this.#settle(callback, await this.#place(callback), true)
      } catch (err) {
        // Nothing else is needed here: the lease expires, and then another process tries again.
        log.warn({ err, callbackId: callback.id }, 'the attempt to place a callback could not be stored')
      }
    }
    await Promise.all(due.filter(({ status }) => status === 'dispatching').map(dispatchOne))
  }

  async #place(callback: Callback): Promise<Placing> {
    const { place, log } = this.#deps
    try {
      return await place(callback)
    } catch (err) {
      log.error({ err, callbackId: callback.id }, 'a callback could not be placed')
      return { failure: 'carrier_error' }
    }
  }

  /** Stores an attempt's result. Throws without storing the result if another process has taken the callback over. */
  #settle(placed: Callback, placing: Placing, isDue: boolean): Promise<WholeCallback | null> {
    const { store, clock } = this.#deps
    return store.change(placed, placed.id, (callback) => {
      if (callback.lease === null || callback.lease.id !== placed.lease?.id) throw new Error('the lease has run out')
      return { callback: settled(callback, placing, isDue, clock.nowMs()) }
    })
  }
}

function requireScheduled({ status }: Callback): void {
  if (status !== 'scheduled') throw new ResourceFault({ kind: 'callback_not_scheduled', status })
}

function faultOf({ failure, why = 'unavailable', sessionId }: Extract<Placing, { failure: PlacingFailure }>): Error {
  if (failure === 'insufficient_credits') return new Fault({ kind: 'credit_too_low' })
  if (failure === 'concurrency')
    return new Fault({ kind: 'too_many_at_once', limit: 'organization' }, { retryAfterS: 1 })
  return new ResourceFault({
    kind: 'not_dialed',
    why: failure === 'no_phone_number' ? 'no_number' : why,
    ...(sessionId !== undefined && { sessionId }),
  })
}
