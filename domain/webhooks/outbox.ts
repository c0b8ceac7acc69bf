/**
 * The outbox: an event is stored in the transaction that changes its call, once for all endpoints that get it. So an event
 * is neither lost nor made twice by a crash.
 */
import type { WebhookEventType } from '../records/webhook-endpoint.ts'

export type OutboxEvent = {
  /** UUIDv7. It is the webhook-id of every attempt. */
  id: string
  type: WebhookEventType
  callId: string
  agentId: string | null
  /** The webhook tags of the call. */
  tags: Readonly<Record<string, string>>
  /** A report supersedes the reports of its call with a lower version. Null for other types. */
  version: number | null
  /** The JSON text. Attempts and redeliveries send these bytes. */
  body: Uint8Array
  occurredAtMs: number
  /** The time by the clock of the process that stores it. The first attempt is due then. */
  createdAtMs: number
}

/** A delivery that has not succeeded until then is given up. */
export const expiryMs = 48 * 3_600_000
