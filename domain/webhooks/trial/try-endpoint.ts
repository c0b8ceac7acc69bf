/** Sends a test event to an endpoint, even if it is disabled, and logs the delivery. */
import type { EventPayloads } from '../../calls/payloads.ts'
import { afterSending } from '../../records/fault.ts'
import type { Tenant } from '../../records/organization.ts'
import { ResourceFault } from '../../records/resource-fault.ts'
import type { Attempt, ClaimedDelivery } from '../../records/webhook-delivery.ts'
import type { DeliveryTargets, WebhookEventType } from '../../records/webhook-endpoint.ts'
import type { EndpointStore } from '../../records/webhook-endpoint-store.ts'
import type { SaidIssue } from '../../sessions/pre-call.ts'
import { type PreCallAnswers, preCallBytesMax, withoutSecrets } from '../../sessions/pre-call-webhook.ts'
import { type AttemptDeps, answerBytesMax, type Posted, post } from '../attempt.ts'
import type { DeliveryStore } from '../delivery-store.ts'
import type { OutboxEvent } from '../outbox.ts'
import { endOf } from '../outcome.ts'
import { testEvent } from './test-event.ts'

export type TryEndpointDeps = AttemptDeps & {
  store: Pick<DeliveryStore, 'record'>
  targets: DeliveryTargets
  endpoints: Pick<EndpointStore, 'find'>
  payloads: EventPayloads
  answers: PreCallAnswers
  /** A UUIDv7. */
  id: () => string
}

export type Tried = {
  attempt: Attempt
  deliveryId: string
  /**
   * The broken rules in the answer to a `call.pre_call` event. Null for other events, or if there was no valid HTTP
   * answer.
   */
  issues: readonly SaidIssue[] | null
}

/**
 * Sends a test event to an endpoint. Without `type`, the first type in the endpoint's list is used. Throws
 * ResourceFault `not_found` if the endpoint is unknown.
 */
export type TryEndpoint = (tenant: Tenant, endpointId: string, type?: WebhookEventType) => Promise<Tried>

export function createTryEndpoint(deps: TryEndpointDeps): TryEndpoint {
  const { store, targets, endpoints, payloads, clock, id } = deps
  return async (tenant, endpointId, requestedType) => {
    const endpoint = await endpoints.find(tenant, endpointId)
    const target = endpoint && (await targets.deliveryTarget(tenant, endpointId))
    const type = requestedType ?? endpoint?.events[0]
    if (endpoint === null || target === null || type === undefined) throw new ResourceFault({ kind: 'not_found' })
    const ids = { eventId: id(), callId: id() }
    const event = testEvent(payloads, tenant, endpoint, type, ids, clock.nowMs())
    const bytesMax = type === 'call.pre_call' ? preCallBytesMax : answerBytesMax
    // Test events use a separate lane with separate connections, so that deliveries do not wait for them.
    const { organizationId } = tenant
    const sent = { ...event, callId: null, lane: `test ${endpointId}`, organizationId }
    const posted = await post(deps, target, sent, 'manual', bytesMax)
    const delivery = claimOf(tenant, id(), endpointId, event)
    const attempt = type === 'call.pre_call' ? withoutSecrets(deps.answers, posted) : posted.attempt
    const end = endOf(delivery, attempt, null, { nowMs: clock.nowMs(), random: 0 })
    const status = end.status === 'unchanged' ? ('failed' as const) : end.status
    await afterSending(store.record(tenant, { event, endpointName: endpoint.name, end: { ...end, status } }))
    const issues = type === 'call.pre_call' ? issuesOf(deps.answers, posted) : null
    return { attempt: posted.attempt, deliveryId: delivery.id, issues }
  }
}

function claimOf(tenant: Tenant, id: string, endpointId: string, event: OutboxEvent): ClaimedDelivery {
  return {
    ...tenant,
    id,
    eventId: event.id,
    endpointId,
    type: event.type,
    callId: event.callId,
    createdAtMs: event.createdAtMs,
    body: event.body,
    claim: 1,
    failures: 0,
    trigger: 'manual',
    expiresAtMs: event.createdAtMs,
    claimedUntilMs: event.createdAtMs,
  }
}

function issuesOf(answers: PreCallAnswers, { attempt, answer }: Posted): readonly SaidIssue[] | null {
  if (attempt.error !== null || answer === null) return null
  const reply = answers.read(answer)
  return reply.result === 'invalid' ? reply.issues : []
}
