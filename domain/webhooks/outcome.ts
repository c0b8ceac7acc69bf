/** How a delivery goes on after an attempt. */
import type { Attempt, ClaimedDelivery } from './delivery.ts'
import type { DeliveryEnd, EndpointSign } from './queue.ts'
import { retryDelayMs } from './schedule.ts'

const gone = 410

/** `random` is from 0 to 1. */
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
  // A delivery that expires is looked at then, and not attempted.
  return { ...end, status: 'pending', failures, dueAtMs: Math.min(nowMs + delayMs, delivery.expiresAtMs) }
}

/** The end of a delivery whose endpoint takes none any more. */
export function cancelledEnd(delivery: ClaimedDelivery, error: 'deleted' | 'disabled'): DeliveryEnd {
  const { failures, trigger } = delivery
  const status = trigger === 'manual' ? 'unchanged' : 'cancelled'
  return { delivery, attempt: null, status, error, dueAtMs: null, failures, endpoint: null }
}

/** A redelivery that fails says nothing new, because a person who repairs a server tries it often. */
function signOf({ trigger }: ClaimedDelivery, { error, responseStatus }: Attempt): EndpointSign | null {
  if (error === null) return 'worked'
  if (responseStatus === gone) return 'gone'
  return trigger === 'manual' ? null : 'failed'
}
