/** The queue of open deliveries that several processes share. The store implements it. */
import type {
  Attempt,
  AttemptError,
  CancelReason,
  ClaimedDelivery,
  DeliveryStatus,
} from '../records/webhook-delivery.ts'

/** An endpoint with a due delivery. */
export type DueEndpoint = { endpointId: string; organizationId: string }

/** At most `max` deliveries for the endpoint. */
export type EndpointClaim = { endpointId: string; max: number }

/** An attempt's end and its effect on the delivery. */
export type DeliveryEnd = {
  delivery: ClaimedDelivery
  /** Null if no attempt was made. */
  attempt: Attempt | null
  /** `unchanged`: as before the claim, after a failed redelivery or a claim without an attempt. */
  status: Exclude<DeliveryStatus, 'delivering' | 'expired'> | 'unchanged'
  error: AttemptError | CancelReason | null
  /** When the next attempt is due, if the status is `pending`. */
  dueAtMs: number | null
  failures: number
  endpoint: EndpointSign | null
}

/** The attempt's result for its endpoint. `gone`: the endpoint answered 410. */
export type EndpointSign = 'worked' | 'failed' | 'gone'

export interface DeliveryQueue {
  /**
   * Returns endpoints with due deliveries. If there are too many for one answer, the next call returns the next
   * endpoints. Also releases claims from dead processes, and ends expired deliveries.
   */
  due(): Promise<DueEndpoint[]>
  /**
   * Claims due deliveries for this process, the longest due first. A newer report waits while an older one is under
   * way. The last body may exceed `bytesMax`.
   */
  claim(claims: readonly EndpointClaim[], bytesMax: number): Promise<ClaimedDelivery[]>
  /**
   * Stores the ends of attempts. An end is skipped if its claim ran out and another process took over. If an endpoint
   * is gone, or has failed for `failingMs` without a success, it is disabled and its deliveries are cancelled. Returns
   * these endpoints.
   */
  complete(ends: readonly DeliveryEnd[]): Promise<DisabledEndpoint[]>
  backlog(): Promise<Backlog>
  /** Calls `due` with endpoints that got a delivery. A notification may be lost. */
  listen(due: (endpoints: readonly DueEndpoint[]) => void): Promise<void>
}

/** The number of open deliveries, and the wait of the longest due delivery. */
export type Backlog = { open: number; oldestDueMs: number }

export interface DeliveryMetrics {
  webhookAttempt(outcome: AttemptError | 'success', durationMs: number): void
}

export type DisabledEndpoint = { endpointId: string; reason: 'gone' | 'failing' }

/** Five days. */
export const failingMs = 5 * 86_400_000
