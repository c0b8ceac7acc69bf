/** A callback: an agent promised in a session to call later. */
import type { Tenant } from './organization.ts'
import type { Pipeline } from './pipeline.ts'
import type { CallbackStatus } from './states/callback.ts'

export type PlacingFailure = 'carrier_error' | 'insufficient_credits' | 'concurrency' | 'no_phone_number'
/** `missed`: no process was running when the callback was due. */
export type CallbackFailure = PlacingFailure | 'missed'

export type Callback = Tenant & {
  id: string
  sourceSessionId: string
  /** The session that was created for the new call. */
  createdSessionId: string | null
  agentId: string | null
  phoneNumberId: string | null
  /** A phone number in E.164 form. */
  toNumber: string
  fromNumber: string | null
  scheduledAtMs: number
  status: CallbackStatus
  reason: string | null
  /** The agent's instructions for the new call. */
  instructions: string | null
  /** The reason why the last attempt failed. Null while the next attempt is running. */
  failureCause: CallbackFailure | null
  attemptedAtMs: number | null
  dispatchedAtMs: number | null
  cancelledAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
  /** Counts scheduled attempts. Attempts requested through the API do not count. */
  tries: number
  nextTryAtMs: number
  /**
   * Held by a process while it places the call. The lease's id becomes the id of the new call's session. So if the
   * process dies, the next process can see whether the call was placed.
   */
  lease: { id: string; untilMs: number } | null
}

/**
 * Returns true if the session's promise to call is still valid. `last` is the session's last callback, because a new
 * promise replaces the previous promise.
 */
export function isPromised(last: Pick<Callback, 'status'> | null): boolean {
  return last !== null && last.status !== 'cancelled'
}

/** A callback with the parts of its session shown to clients. */
export type WholeCallback = {
  callback: Callback
  pipeline: Pipeline
  metadata: Record<string, unknown>
  webhookTags: Record<string, string>
  /** Null until the session is analysed. */
  summary: string | null
}

/**
 * Returns the phone number configured for the tool `schedule_callback`. If undefined, the oldest number that can place
 * calls is used.
 */
export function configuredNumberOf({ tools }: Pick<Pipeline, 'tools'>): string | undefined {
  const numbers = tools.flatMap(({ source }) =>
    source.kind === 'builtin' && source.name === 'schedule_callback' ? (source.config?.phoneNumberId ?? []) : [],
  )
  return numbers[0]
}

/** A promised callback's data. */
export type CallbackRequest = Pick<Callback, 'toNumber' | 'scheduledAtMs' | 'reason' | 'instructions'>

/** Makes a callback. `session` is the session in which the agent promised it. */
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
