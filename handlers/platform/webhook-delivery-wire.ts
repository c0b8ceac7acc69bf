import type { Attempt, Delivery, NumberedAttempt } from '../../domain/records/webhook-delivery.ts'
import type { EndpointOption, WholeDelivery } from '../../domain/webhooks/delivery-store.ts'
import type {
  WebhookAttempt,
  WebhookAttemptResult,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
} from '../../generated/platform/types.ts'
import { timeOf, timeOrNull } from './times.ts'

/** The maximum length of the body text shown for each attempt. */
const bodyBytesMax = 65_536

export function wireDelivery(delivery: Delivery): WebhookDelivery {
  return {
    id: delivery.id,
    ...(delivery.test && { test: true }),
    eventId: delivery.eventId,
    endpointId: delivery.endpointId,
    endpointName: delivery.endpointName,
    endpointKind: delivery.endpointKind,
    endpointDeleted: delivery.isEndpointDeleted,
    event: delivery.type,
    sessionId: delivery.callId,
    sessionStored: delivery.isCallStored,
    agentId: delivery.agentId,
    webhookTags: delivery.tags,
    status: delivery.status,
    attempts: delivery.attempts,
    httpStatus: delivery.httpStatus,
    error: delivery.error,
    occurredAt: timeOf(delivery.occurredAtMs),
    expiresAt: timeOf(delivery.expiresAtMs),
    deliveredAt: timeOrNull(delivery.deliveredAtMs),
    createdAt: timeOf(delivery.createdAtMs),
    canRedeliver: delivery.canRedeliver,
  }
}

export function wireEndpointOption({
  id,
  name,
  kind,
  isDeleted,
}: EndpointOption): WebhookDeliveryPage['endpointOptions'][0] {
  return { id, name, kind, deleted: isDeleted }
}

export function wireWholeDelivery({ delivery, body, attempts }: WholeDelivery): WebhookDeliveryDetail {
  const text = textOf(body)
  const requestBody = body.length > bodyBytesMax ? null : text
  return {
    ...wireDelivery(delivery),
    attemptCount: delivery.attempts,
    requestPayload: JSON.parse(text) as Record<string, unknown>,
    attempts: attempts.map((attempt) => wireAttempt(attempt, requestBody)),
  }
}

function wireAttempt(attempt: NumberedAttempt, requestBody: string | null): WebhookAttempt {
  return {
    id: attempt.id,
    attemptNumber: attempt.number,
    trigger: attempt.trigger,
    requestUrl: attempt.requestUrl,
    requestHeaders: attempt.requestHeaders,
    requestBody,
    responseStatus: attempt.responseStatus,
    responseBody: attempt.responseBody && textOf(attempt.responseBody),
    responseTruncated: attempt.isResponseTruncated,
    durationMs: attempt.durationMs,
    error: attempt.error,
    createdAt: timeOf(attempt.createdAtMs),
  }
}

export function wireAttemptResult({ error, responseStatus }: Attempt): WebhookAttemptResult {
  return { delivered: error === null, httpStatus: responseStatus, error }
}

/** Decodes a body. Invalid UTF-8 becomes U+FFFD. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
