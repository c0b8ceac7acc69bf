/** Decides how a delivery continues after an attempt. */
import type { Attempt, ClaimedDelivery } from '../records/webhook-delivery.ts'
import type { DeliveryEnd, EndpointSign } from './queue.ts'
import { retryDelayMs } from './schedule.ts'

const gone = 410

/** Decides a delivery's state after an attempt. `random` is from 0 to 1. */
export function endOf(
  delivery: ClaimedDelivery,
  attempt: Attempt,
  retryAfterMs: number | null,
  { nowMs, random }: { nowMs: number; random: number },
): DeliveryEnd {
  const { error } = attempt
  const end = {
    delivery,
    attempt,
    error,
    dueAtMs: null,
    failures: delivery.failures,
    endpoint: signOf(delivery, attempt),
  }
  if (error === null) return { ...end, status: 'succeeded' }
  if (delivery.trigger === 'manual') return { ...end, status: 'unchanged' }
  const failures = delivery.failures + 1
  if (end.endpoint === 'gone') return { ...end, status: 'cancelled', error: 'disabled', failures }
  const delayMs = retryDelayMs(failures, retryAfterMs, random)
  if (delayMs === null) return { ...end, status: 'failed', failures }
  // The delivery becomes due at `expiresAtMs` at the latest. It then expires without another attempt.
  return { ...end, status: 'pending', failures, dueAtMs: Math.min(nowMs + delayMs, delivery.expiresAtMs) }
}

/** Makes the result for a delivery to a deleted or disabled endpoint. */
export function cancelledEnd(delivery: ClaimedDelivery, error: 'deleted' | 'disabled'): DeliveryEnd {
  const end = givenBackEnd(delivery)
  return delivery.trigger === 'manual' ? end : { ...end, status: 'cancelled', error }
}

/** Makes the result of a claim without an attempt. The delivery returns to its state before the claim. */
export function givenBackEnd(delivery: ClaimedDelivery): DeliveryEnd {
  const { failures } = delivery
  return { delivery, attempt: null, status: 'unchanged', error: null, dueAtMs: null, failures, endpoint: null }
}

/**
 * Returns true if an attempt that begins now ends before another process may claim the delivery. Otherwise the call's
 * newer report could be sent while this attempt still runs.
 */
export function canAttempt({ claimedUntilMs }: ClaimedDelivery, timeoutMs: number, nowMs: number): boolean {
  return nowMs + timeoutMs <= claimedUntilMs
}

/**
 * Returns the endpoint's state as shown by the attempt. A failed redelivery returns null, because people redeliver
 * often while they repair a server.
 */
function signOf({ trigger }: ClaimedDelivery, { error, responseStatus }: Attempt): EndpointSign | null {
  if (error === null) return 'worked'
  if (responseStatus === gone) return 'gone'
  return trigger === 'manual' ? null : 'failed'
}
