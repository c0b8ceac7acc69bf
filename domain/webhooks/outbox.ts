/**
 * The outbox. An event is stored once for all endpoints, in the transaction that changes its call. So a crash neither
 * loses nor duplicates an event.
 */
import type { WebhookEventType } from '../records/webhook-endpoint.ts'

export type OutboxEvent = {
  /** UUIDv7. It is the webhook-id in every attempt. */
  id: string
  type: WebhookEventType
  callId: string
  agentId: string | null
  /** The webhook tags of the call. */
  tags: Readonly<Record<string, string>>
  /** A report supersedes its call's reports with lower versions. Null for other types. */
  version: number | null
  /** JSON text. Attempts and redeliveries send these bytes. */
  body: Uint8Array
  occurredAtMs: number
  /** By the clock of the storing process. The first attempt is due then. */
  createdAtMs: number
}

/** A delivery is given up if it has not succeeded within this time. */
export const expiryMs = 48 * 3_600_000
