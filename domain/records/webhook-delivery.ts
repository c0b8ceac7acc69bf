/** A delivery is one event for one endpoint. An attempt is one POST of the event. */
import type { RichEventType } from '../ports/rich-messages.ts'
import type { Tenant } from './organization.ts'
import type { WebhookEventType } from './webhook-endpoint.ts'

export type DeliveryStatus = 'pending' | 'delivering' | 'succeeded' | 'failed' | 'cancelled' | 'expired'

/** The reasons why an attempt failed. `body_too_large`: the endpoint's answer was too large. */
export type AttemptError =
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'address_blocked'
  | 'redirect'
  | 'http_status'
  | 'body_too_large'

/** The reasons why a delivery was cancelled. */
export type CancelReason = 'deleted' | 'disabled' | 'superseded'

export type AttemptTrigger = 'automatic' | 'manual'

/** `rmsg` is a subscription to rich-message events, `workspace` any other endpoint. */
export type EndpointKind = 'workspace' | 'rmsg'

export type Delivery = Tenant & {
  id: string
  /** The event's id. The header `webhook-id` contains it. */
  eventId: string
  endpointId: string
  endpointName: string
  endpointKind: EndpointKind
  /** True if the endpoint was deleted. */
  isEndpointDeleted: boolean
  type: WebhookEventType | RichEventType
  /** Null for a rich-message event. */
  callId: string | null
  /** False for a test event, whose call does not exist, and after the call was deleted. */
  isCallStored: boolean
  agentId: string | null
  tags: Record<string, string>
  status: DeliveryStatus
  attempts: number
  httpStatus: number | null
  error: AttemptError | CancelReason | null
  /** True if a client may request another delivery. */
  canRedeliver: boolean
  occurredAtMs: number
  createdAtMs: number
  expiresAtMs: number
  deliveredAtMs: number | null
}

/** A delivery that this process has claimed for one attempt. */
export type ClaimedDelivery = Tenant & {
  id: string
  eventId: string
  endpointId: string
  type: WebhookEventType
  /** Null if the event is not about a call. */
  callId: string | null
  createdAtMs: number
  body: Uint8Array
  /** The claim's number. An attempt's result is stored only if no later claim exists. */
  claim: number
  /** Counts failed attempts in the schedule so far. */
  failures: number
  trigger: AttemptTrigger
  expiresAtMs: number
  claimedUntilMs: number
}

export type Attempt = {
  id: string
  trigger: AttemptTrigger
  requestUrl: string
  /** Secret values are masked. */
  requestHeaders: Record<string, string>
  responseStatus: number | null
  /** The beginning of the endpoint's answer. */
  responseBody: Uint8Array | null
  isResponseTruncated: boolean
  durationMs: number
  error: AttemptError | null
  createdAtMs: number
}
export type NumberedAttempt = Attempt & { number: number }
