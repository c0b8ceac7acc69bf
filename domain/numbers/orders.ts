/**
 * Orders numbers. The number is stored and paid before the carrier receives the order, and its id is the order's
 * reference. So an order survives its process's death:
 *
 *   stored and paid, `pending` ──► order ──► `done`
 *                                    │  └──► `failed`: the money goes back
 *                                    └─ no answer, or the process died: the carrier is asked until it knows the result
 */
import { type NumberCarrier, NumberCarrierError } from '../ports/number-carrier.ts'
import type { Clock, Log } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import type { PhoneNumber } from '../records/phone-number.ts'

export interface NumberCarriers {
  of(tenant: Pick<Tenant, 'test'>): NumberCarrier
}

export type InsertOutcome = 'inserted' | 'agent_unknown' | 'exists' | 'limit_reached' | 'unavailable' | 'credit_too_low'

/** The result of an order. After `withdrawn`, the number is deleted. */
export type OrderEnd =
  | { status: 'done'; orderId: string; resourceId: string | null }
  | { status: 'failed' }
  | { status: 'withdrawn' }

export interface NumberOrderStore {
  /** Makes the same checks as `insert`, except for the price. `free`: the number can be inserted. */
  check(number: PhoneNumber, numbersMax: number): Promise<'agent_unknown' | 'exists' | 'limit_reached' | 'free'>
  /**
   * Stores the number and debits its price in one transaction. The carrier is not asked about the order before
   * `lookAtMs`. `limit_reached`: the tenant has `numbersMax` numbers.
   */
  insert(number: PhoneNumber, lookAtMs: number, numbersMax: number): Promise<InsertOutcome>
  /** Stores that the carrier has the order but has not decided. */
  ordered(number: PhoneNumber, orderId: string, lookAtMs: number): Promise<void>
  /**
   * Ends a pending order. An ended order stays as it is, so the price is refunded only once. Resolves with null if the
   * number no longer exists.
   */
  end(number: PhoneNumber, end: OrderEnd): Promise<PhoneNumber | null>
  /**
   * Returns pending orders that are due for a check, in all organizations. Other processes do not get them before
   * `untilMs`.
   */
  take(limit: number, untilMs: number): Promise<PhoneNumber[]>
}

export type OrderDeps = { orders: NumberOrderStore; carriers: NumberCarriers; clock: Clock; log: Log }

export const lookEveryMs = 5_000
/** If the carrier does not know an order after this time, the order never reached it. */
const lostAfterMs = 60_000
const dueMax = 50

/** Makes a function that asks the carriers for the results of pending orders. */
export function createOrderLook(deps: OrderDeps): () => Promise<void> {
  return async () => {
    const due = await deps.orders.take(dueMax, deps.clock.nowMs() + lookEveryMs)
    await Promise.all(due.map((number) => look(deps, number)))
  }
}

async function look(deps: OrderDeps, number: PhoneNumber): Promise<void> {
  try {
    await lookAt(deps, number)
  } catch (err) {
    deps.log.warn({ err, phoneNumberId: number.id }, 'the order of a phone number could not be looked at')
  }
}

async function lookAt({ orders, carriers, clock }: OrderDeps, number: PhoneNumber): Promise<void> {
  const carrier = carriers.of(number)
  const order = await carrier.findOrder({ id: number.order.id, reference: number.id })
  if (order === null) {
    if (clock.nowMs() - number.createdAtMs >= lostAfterMs) await orders.end(number, { status: 'failed' })
    return
  }
  if (order.status === 'pending') return orders.ordered(number, order.id, clock.nowMs() + lookEveryMs)
  await orders.end(number, order.status === 'failed' ? { status: 'failed' } : await doneBy(carrier, number, order.id))
}

/**
 * Makes the result of a successful order. If the carrier's id for the number cannot be read now, the id is looked up
 * when the number is released.
 */
export async function doneBy(carrier: NumberCarrier, { e164 }: PhoneNumber, orderId: string): Promise<OrderEnd> {
  const resourceId = await carrier.resourceIdOf(e164).catch((error: unknown) => {
    if (error instanceof NumberCarrierError) return null
    throw error
  })
  return { status: 'done', orderId, resourceId }
}
