/** Stores the delivery log. An organization can read it for `retention.deliveriesDays`. */
import type { Tenant } from '../records/organization.ts'
import type {
  ClaimedDelivery,
  Delivery,
  DeliveryStatus,
  EndpointKind,
  NumberedAttempt,
} from '../records/webhook-delivery.ts'
import type { OutboxEvent } from './outbox.ts'
import type { DeliveryEnd } from './queue.ts'

export type DeliveryFilter = {
  endpointId?: string
  type?: Delivery['type']
  agentId?: string
  status?: DeliveryStatus
  callId?: string
  eventId?: string
  /** Selects deliveries created at this time or later. */
  fromMs?: number
  /** Selects deliveries created at this time or earlier. */
  toMs?: number
}

/** A delivery's position in the list. */
export type DeliveryPosition = { createdAtMs: number; id: string }

/** An endpoint for the list's filter: it has deliveries, or can still receive deliveries. */
export type EndpointOption = { id: string; name: string; kind: EndpointKind; isDeleted: boolean }

export type DeliveryPage = { deliveries: Delivery[]; next: DeliveryPosition | null; endpoints: EndpointOption[] }

export type WholeDelivery = { delivery: Delivery; body: Uint8Array; attempts: NumberedAttempt[] }

/** An endpoint's deliveries that were created at `fromMs` or later, and before `toMs` if there is one. */
export type DeliveryRange = { endpointId: string; fromMs: number; toMs: number | null }

/**
 * At most `max` deliveries after the position `after`. All batches of one request have the same `nowMs`. `leftMax` is
 * the request's limit without the deliveries in earlier batches.
 */
export type RecoveryBatch = { max: number; leftMax: number; after: DeliveryPosition | null; nowMs: number }

/** `next` is the position after which the range may have more deliveries. It is null at the range's end. */
export type RecoveredBatch = { count: number; next: DeliveryPosition | null }

/** An event sent once, outside the schedule, with the end of its only attempt. */
export type SentEvent = { event: OutboxEvent; endpointName: string; end: DeliveryEnd }

/** An endpoint's newest delivery, and its deliveries in the last 24 hours. */
export type DeliverySummary = {
  status: DeliveryStatus
  httpStatus: number | null
  createdAtMs: number
  succeeded: number
  failed: number
  pending: number
}

export interface DeliveryStore {
  /** Lists the deliveries, newest first. */
  list(tenant: Tenant, filter: DeliveryFilter, limit: number, after: DeliveryPosition | null): Promise<DeliveryPage>
  /** Finds a delivery with its last attempts, oldest first. */
  find(tenant: Tenant, id: string): Promise<WholeDelivery | null>
  /**
   * Claims a delivery for one attempt outside the schedule. `unknown`: the tenant has no such delivery. `refused`: it
   * cannot be repeated now.
   */
  claimForRedelivery(tenant: Tenant, id: string): Promise<ClaimedDelivery | 'unknown' | 'refused'>
  /**
   * Makes a batch of the range's failed deliveries due now with a new schedule, in one transaction, the oldest first.
   * A later batch is due after an earlier batch of the request. A failed delivery has failed, has expired, or was
   * cancelled because the endpoint was disabled. Events that are sent only once and superseded reports are left out.
   * `unknown`: the tenant has no such endpoint. `disabled`: the endpoint gets no events now.
   */
  recover(tenant: Tenant, range: DeliveryRange, batch: RecoveryBatch): Promise<RecoveredBatch | 'unknown' | 'disabled'>
  /** Sums up the deliveries of each endpoint. An endpoint without deliveries is not in the result. */
  summaries(tenant: Tenant, endpointIds: readonly string[]): Promise<ReadonlyMap<string, DeliverySummary>>
  record(tenant: Tenant, sent: SentEvent): Promise<void>
  /** Deletes deliveries older than the log's retention. */
  purge(): Promise<void>
}
