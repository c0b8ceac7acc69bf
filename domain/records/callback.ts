/** A callback: a call promised by an agent for later. It belongs to the session with the promise. */
import type { Tenant } from './organization.ts'
import type { Pipeline } from './pipeline.ts'
import type { CallbackStatus } from './states/callback.ts'

export type PlacingFailure = 'carrier_error' | 'insufficient_credits' | 'concurrency' | 'no_phone_number'
/** `missed` if no process was running when the callback was due. */
export type CallbackFailure = PlacingFailure | 'missed'

export type Callback = Tenant & {
  id: string
  sourceSessionId: string
  /** The placed call's session. */
  createdSessionId: string | null
  agentId: string | null
  phoneNumberId: string | null
  /** E.164. */
  toNumber: string
  fromNumber: string | null
  scheduledAtMs: number
  status: CallbackStatus
  reason: string | null
  /** Instructions for the agent in the new call. */
  instructions: string | null
  /** The last attempt's failure. Null while the next attempt is under way. */
  failureCause: CallbackFailure | null
  attemptedAtMs: number | null
  dispatchedAtMs: number | null
  cancelledAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
  /** Scheduled attempts. An attempt requested through the API does not count. */
  tries: number
  nextTryAtMs: number
  /**
   * Held by the process while it places the call. The call's session gets this id. If the process dies, the next
   * process thereby sees whether the call was placed.
   */
  lease: { id: string; untilMs: number } | null
}

/** True if a session has promised a call. `last` is its last callback, because a new promise replaces the old. */
export function isPromised(last: Pick<Callback, 'status'> | null): boolean {
  return last !== null && last.status !== 'cancelled'
}

/** A callback with its session's parts for an answer. */
export type WholeCallback = {
  callback: Callback
  pipeline: Pipeline
  metadata: Record<string, unknown>
  webhookTags: Record<string, string>
  /** Null until the session is analysed. */
  summary: string | null
}

/** The number named in the tool's configuration. If undefined, the oldest number able to call is taken. */
export function configuredNumberOf({ tools }: Pick<Pipeline, 'tools'>): string | undefined {
  const numbers = tools.flatMap(({ source }) =>
    source.kind === 'builtin' && source.name === 'schedule_callback' ? (source.config?.phoneNumberId ?? []) : [],
  )
  return numbers[0]
}

/** The fields promised by the agent. */
export type CallbackRequest = Pick<Callback, 'toNumber' | 'scheduledAtMs' | 'reason' | 'instructions'>

/** `session` is the session with the promise. */
export function newCallback(
  session: Tenant & { id: string; agentId: string | null },
  request: CallbackRequest,
  id: string,
  nowMs: number,
): Callback {
  return {
    organizationId: session.organizationId,
    test: session.test,
    id,
    sourceSessionId: session.id,
    createdSessionId: null,
    agentId: session.agentId,
    phoneNumberId: null,
    fromNumber: null,
    ...request,
    status: 'scheduled',
    failureCause: null,
    attemptedAtMs: null,
    dispatchedAtMs: null,
    cancelledAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    tries: 0,
    nextTryAtMs: request.scheduledAtMs,
    lease: null,
  }
}
