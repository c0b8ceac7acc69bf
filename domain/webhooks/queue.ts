/** The deliveries that are not over, as the processes that share them see them. The store implements it. */
import type {
  Attempt,
  AttemptError,
  CancelReason,
  ClaimedDelivery,
  DeliveryStatus,
} from '../records/webhook-delivery.ts'

/** An endpoint that has a delivery which is due. */
export type DueEndpoint = { endpointId: string; organizationId: string }

/** At most `max` deliveries of the endpoint. */
export type Wanted = { endpointId: string; max: number }

/** How an attempt ended, and the delivery with it. */
export type DeliveryEnd = {
  delivery: ClaimedDelivery
  /** Null: none was made. */
  attempt: Attempt | null
  /** `unchanged`: as before the claim, after a redelivery that failed or a claim without an attempt. */
  status: Exclude<DeliveryStatus, 'delivering' | 'expired'> | 'unchanged'
  error: AttemptError | CancelReason | null
  /** The next attempt is due then, where the status is `pending`. */
  dueAtMs: number | null
  failures: number
  endpoint: EndpointSign | null
}

/** The result of an attempt as far as it concerns the endpoint. `gone`: it answered 410. */
export type EndpointSign = 'worked' | 'failed' | 'gone'

export interface DeliveryQueue {
  /**
   * Endpoints that have a delivery which is due. Where these are many, the next call names the next ones. It also gives back
   * the claims of processes that are gone, and ends the deliveries that have expired.
   */
  due(): Promise<DueEndpoint[]>
  /**
   * Claims deliveries that are due for this process, the longest due first. An older report under way holds up a newer one.
   * The last body that is claimed may go beyond `bytesMax`.
   */
  claim(wanted: readonly Wanted[], bytesMax: number): Promise<ClaimedDelivery[]>
  /**
   * Stores the ends of attempts, but those whose claim has run out and was taken over. An endpoint that is gone, or that
   * has failed for `failingMs` without a success, is disabled and its deliveries cancelled: these are returned.
   */
  complete(ends: readonly DeliveryEnd[]): Promise<DisabledEndpoint[]>
  backlog(): Promise<Backlog>
  /** Calls `due` with endpoints that have got a delivery. A notification may be lost. */
  listen(due: (endpoints: readonly DueEndpoint[]) => void): Promise<void>
}

/** Deliveries that are not over, and how long the one that is due for longest waits. */
export type Backlog = { open: number; oldestDueMs: number }

export interface DeliveryMetrics {
  webhookAttempt(outcome: AttemptError | 'success', durationMs: number): void
}

export type DisabledEndpoint = { endpointId: string; reason: 'gone' | 'failing' }

/** Five days. */
export const failingMs = 5 * 86_400_000
