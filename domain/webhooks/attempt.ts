/** Sends an event to an endpoint with one POST. The event is signed for each attempt. */
import type { CancelSignal, Clock } from '../ports/system.ts'
import type { Traces } from '../ports/trace.ts'
import type { Attempt, AttemptError, AttemptTrigger } from '../records/webhook-delivery.ts'
import type { DeliveryTarget } from '../records/webhook-endpoint.ts'
import { attemptTrace, recordDelivery, type TracedEvent } from './attempt-trace.ts'
import { type WebhookAnswer, type WebhookClient, WebhookError, type WebhookFailure } from './client.ts'
import { webhookHeaders } from './signature.ts'

export type AttemptDeps = {
  client: Pick<WebhookClient, 'post'>
  clock: Clock
  /** Makes a signal that is aborted after `delayMs`, unless `end` is called before. */
  deadline(delayMs: number): Deadline
  attemptId(): string
  /** Absent or null if deliveries are not traced. */
  traces?: Traces | null
}

export interface Deadline {
  readonly signal: CancelSignal
  end(): void
}

export type Posted = {
  attempt: Attempt
  /** The body of the endpoint's HTTP response, cut at `bytesMax`. Null if there was no response. */
  answer: Uint8Array | null
  retryAfterMs: number | null
}

/** An attempt fails if the endpoint's answer is longer than this. */
export const answerBytesMax = 65_536
/** The delivery log keeps at most this much of an endpoint's response. */
const loggedBytesMax = 4_096

/**
 * Makes one attempt. The attempt succeeds if the endpoint's whole response arrives in time with a 2xx status. An
 * endpoint's failure is returned as a result, and the promise does not reject.
 */
export async function post(
  deps: AttemptDeps,
  target: DeliveryTarget,
  event: TracedEvent & { body: Uint8Array; lane: string; organizationId: string },
  trigger: AttemptTrigger,
  bytesMax = answerBytesMax,
): Promise<Posted> {
  const { clock } = deps
  const createdAtMs = clock.nowMs()
  const startedMs = clock.monotonicMs()
  const signed = webhookHeaders({ id: event.id, nowMs: createdAtMs, body: event.body }, target.signingSecrets)
  const trace = attemptTrace(deps.traces, event, createdAtMs)
  const plain = { 'content-type': 'application/json', 'user-agent': 'Parley', ...trace?.headers, ...target.headers }
  const deadline = deps.deadline(target.timeoutMs)
  const outcome = await deps.client
    .post({
      url: target.url,
      headers: { ...plain, ...target.authHeaders, ...signed },
      body: event.body,
      signal: deadline.signal,
      answerBytesMax: bytesMax,
      lane: event.lane,
      owner: event.organizationId,
    })
    .catch((error: unknown) => {
      if (error instanceof WebhookError) return error
      throw error
    })
    .finally(() => deadline.end())
  const answer = outcome instanceof WebhookError ? null : outcome
  const error = errorOf(outcome)
  recordDelivery(trace, event, { startedMs, status: answer?.status, error })
  const masked = Object.fromEntries(Object.keys(target.authHeaders).map((name) => [name, mask]))
  return {
    attempt: {
      id: deps.attemptId(),
      trigger,
      requestUrl: target.url,
      requestHeaders: { ...plain, ...masked, ...signed },
      responseStatus: answer?.status ?? null,
      responseBody: answer && answer.body.subarray(0, loggedBytesMax),
      isResponseTruncated: answer !== null && (answer.isCut || answer.body.length > loggedBytesMax),
      durationMs: Math.round(clock.monotonicMs() - startedMs),
      error,
      createdAtMs,
    },
    answer: answer && answer.body,
    retryAfterMs: answer?.retryAfterS === undefined ? null : answer.retryAfterS * 1_000,
  }
}

const mask = '***'

const errors: Readonly<Record<WebhookFailure, AttemptError>> = {
  not_connected: 'connect',
  dns: 'dns',
  tls: 'tls',
  broken_off: 'connect',
  busy: 'connect',
  blocked: 'address_blocked',
  // Only the time-out cancels the request.
  cancelled: 'timeout',
  timed_out: 'timeout',
  not_sendable: 'connect',
}

function errorOf(outcome: WebhookAnswer | WebhookError): AttemptError | null {
  if (outcome instanceof WebhookError) return errors[outcome.failure]
  const { status, isCut } = outcome
  if (status >= 300 && status < 400) return 'redirect'
  if (status < 200 || status > 299) return 'http_status'
  return isCut ? 'body_too_large' : null
}
