/**
 * Sends the `call.pre_call` event to its webhook endpoint once, and waits for the endpoint's HTTP response (the
 * answer).
 */
import type { EventPayloads } from '../calls/payloads.ts'
import type { Log } from '../ports/system.ts'
import type { Call } from '../records/call.ts'
import type { Tenant } from '../records/organization.ts'
import type { Attempt, ClaimedDelivery } from '../records/webhook-delivery.ts'
import type { DeliveryTargets, Endpoint } from '../records/webhook-endpoint.ts'
import { type AttemptDeps, type Posted, post } from '../webhooks/attempt.ts'
import type { DeliveryStore } from '../webhooks/delivery-store.ts'
import type { OutboxEvent } from '../webhooks/outbox.ts'
import { endOf } from '../webhooks/outcome.ts'
import { retryDelaysMs } from '../webhooks/schedule.ts'
import type { PreCall, PreCallReply } from './pre-call.ts'

export type PreCallDeps = AttemptDeps & {
  /** Finds the endpoint for a call. At most one endpoint matches. */
  endpointOf: (call: Call) => Promise<Endpoint | null>
  targets: DeliveryTargets
  deliveries: Pick<DeliveryStore, 'record'>
  payloads: Pick<EventPayloads, 'preCall'>
  answers: PreCallAnswers
  /** A UUIDv7. */
  eventId: () => string
  log: Log
}

export interface PreCallAnswers extends Pick<PreCall, 'issuesOf'> {
  /** Reads an answer's body. The calling code must check for a 2xx status first. */
  read(body: Uint8Array): PreCallReply
  /** Returns true if the body contains tools, which may have secrets. The answer may have any HTTP status. */
  hasTools(body: Uint8Array): boolean
  /** Returns the result for an answer that exceeds the size limit. */
  tooLarge(bytesMax: number): PreCallReply
}

/** The upper limit for the endpoint's time-out, because the person on the phone waits for the answer. */
const waitMsMax = 10_000
/** The maximum size of an answer in bytes, fixed in the contract. */
export const preCallBytesMax = 262_144

export function createPreCall(deps: PreCallDeps): PreCall {
  return {
    issuesOf: (error) => deps.answers.issuesOf(error),
    async ask(call) {
      const endpoint = await deps.endpointOf(call)
      if (endpoint === null) return null
      try {
        return await ask(deps, call, endpoint)
      } catch (err) {
        deps.log.error({ err, callId: call.id, endpointId: endpoint.id }, 'the event before a call was not sent')
        return { reply: { result: 'http_error' }, durationMs: 0 }
      }
    },
  }
}

async function ask(deps: PreCallDeps, call: Call, endpoint: Endpoint): ReturnType<PreCall['ask']> {
  const { organizationId, test } = call
  const target = await deps.targets.deliveryTarget({ organizationId, test }, endpoint.id)
  if (target === null || target.isDisabled) return null
  const event = eventOf(deps, call)
  const timed = { ...target, timeoutMs: Math.min(target.timeoutMs, waitMsMax) }
  const sent = { ...event, lane: endpoint.id, organizationId }
  const posted = await post(deps, timed, sent, 'automatic', preCallBytesMax)
  await record(deps, { organizationId, test }, event, endpoint, posted)
  return { reply: replyOf(deps, posted), durationMs: posted.attempt.durationMs }
}

function eventOf({ payloads, eventId, clock }: PreCallDeps, call: Call): OutboxEvent {
  const nowMs = clock.nowMs()
  const { id: callId, agentId, webhookTags: tags } = call
  const body = payloads.preCall(call, nowMs)
  const times = { occurredAtMs: nowMs, createdAtMs: nowMs }
  return { id: eventId(), type: 'call.pre_call', callId, agentId, tags, version: null, body, ...times }
}

function replyOf({ answers }: PreCallDeps, { attempt, answer }: Posted): PreCallReply {
  const { error, responseStatus } = attempt
  if (error === 'timeout') return { result: 'timeout' }
  if (error === 'body_too_large') return answers.tooLarge(preCallBytesMax)
  if (error !== null) return { result: 'http_error' }
  return responseStatus === 204 || answer === null ? { result: 'empty' } : answers.read(answer)
}

/** Stores the delivery with its only attempt. If it cannot be stored, the session starts anyway. */
async function record(
  { deliveries, answers, eventId, clock, log }: PreCallDeps,
  tenant: Tenant,
  event: OutboxEvent,
  endpoint: Endpoint,
  posted: Posted,
): Promise<void> {
  const delivery: ClaimedDelivery = {
    ...tenant,
    id: eventId(),
    eventId: event.id,
    endpointId: endpoint.id,
    type: event.type,
    callId: event.callId,
    createdAtMs: event.createdAtMs,
    body: event.body,
    claim: 1,
    // All retries are counted as used, so that no retry follows.
    failures: retryDelaysMs.length,
    trigger: 'automatic',
    expiresAtMs: event.createdAtMs,
    claimedUntilMs: event.createdAtMs,
  }
  const end = endOf(delivery, withoutSecrets(answers, posted), null, { nowMs: clock.nowMs(), random: 0 })
  await deliveries.record(tenant, { event, endpointName: endpoint.name, end }).catch((err: unknown) => {
    log.warn({ err, callId: event.callId }, 'the delivery of an event before a call was not logged')
  })
}

/**
 * Returns the attempt for the delivery log. If the answer has tools, its body is left out, because it may contain their
 * secrets: they are stored encrypted and never shown.
 */
export function withoutSecrets(answers: Pick<PreCallAnswers, 'hasTools'>, { attempt, answer }: Posted): Attempt {
  if (answer === null || !answers.hasTools(answer)) return attempt
  return { ...attempt, responseBody: null, isResponseTruncated: true }
}
