/** The queue of open deliveries, shared by several processes. The store implements it. */
import type {
  Attempt,
  AttemptError,
  CancelReason,
  ClaimedDelivery,
  DeliveryStatus,
} from '../records/webhook-delivery.ts'

/** An endpoint with a due delivery. */
export type DueEndpoint = { endpointId: string; organizationId: string }

/** Claims at most `max` deliveries for the endpoint. */
export type EndpointClaim = { endpointId: string; max: number }

/** An attempt's result and its effect on the delivery. */
export type DeliveryEnd = {
  delivery: ClaimedDelivery
  /** Null if no attempt was made. */
  attempt: Attempt | null
  /** `unchanged`: the delivery stays as before the claim, after a failed redelivery or a claim without an attempt. */
  status: Exclude<DeliveryStatus, 'delivering' | 'expired'> | 'unchanged'
  error: AttemptError | CancelReason | null
  /** The time of the next attempt, if the status is `pending`. */
  dueAtMs: number | null
  failures: number
  endpoint: EndpointSign | null
}

/** The endpoint's state as shown by an attempt. `gone`: the endpoint answered 410. */
export type EndpointSign = 'worked' | 'failed' | 'gone'

export interface DeliveryQueue {
  /**
   * Returns endpoints with due deliveries. If there are too many for one result, the next call returns the next
   * endpoints. Also releases claims from dead processes, and ends expired deliveries.
   */
  due(): Promise<DueEndpoint[]>
  /**
   * Claims due deliveries for this process, the longest due first. A call's newer report waits while an older report is
   * being sent. The last body may exceed `bytesMax`.
   */
  claim(claims: readonly EndpointClaim[], bytesMax: number): Promise<ClaimedDelivery[]>
  /**
   * Stores the results of attempts. If a claim expired and another process took the delivery over, the result is
   * skipped. If an endpoint is gone, or has failed for `failingMs` without a success, it is disabled and its deliveries
   * are cancelled. Returns the disabled endpoints.
   */
  complete(ends: readonly DeliveryEnd[]): Promise<DisabledEndpoint[]>
  backlog(): Promise<Backlog>
  /** Calls `due` with endpoints that got a new delivery. A notification may be lost. */
  listen(due: (endpoints: readonly DueEndpoint[]) => void): Promise<void>
}

/** The count of open deliveries, and how long the longest due delivery has waited. */
export type Backlog = { open: number; oldestDueMs: number }

export interface DeliveryMetrics {
  webhookAttempt(outcome: AttemptError | 'success', durationMs: number): void
}

export type DisabledEndpoint = { endpointId: string; reason: 'gone' | 'failing' }

/** If an endpoint fails for five days without a success, it is disabled. */
export const failingMs = 5 * 86_400_000
