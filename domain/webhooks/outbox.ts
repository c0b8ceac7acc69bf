/**
 * Events on their way to endpoints. An event is stored once for all endpoints, in the transaction that changes its
 * call. So a crash neither loses nor duplicates an event.
 */
import type { WebhookEventType } from '../records/webhook-endpoint.ts'

export type OutboxEvent = {
  /** A UUIDv7. Every attempt sends it as `webhook-id`. */
  id: string
  type: WebhookEventType
  callId: string
  agentId: string | null
  /** The webhook tags of the call. */
  tags: Readonly<Record<string, string>>
  /** A call report replaces reports with lower versions for the same call. Null for other types. */
  version: number | null
  /** The JSON text. All attempts send exactly these bytes. */
  body: Uint8Array
  occurredAtMs: number
  /** The creation time on the storing process's clock. The first attempt is due at once. */
  createdAtMs: number
}

/** If a delivery has not succeeded within this time, it expires. */
export const expiryMs = 48 * 3_600_000
