/** A call that an agent has promised to make later. It belongs to the session in which it was promised. */
import type { Tenant } from './organization.ts'
import type { Pipeline } from './pipeline.ts'
import type { CallbackStatus } from './states/callback.ts'

/** A reason why a call could not be placed. */
export type PlacingFailure = 'carrier_error' | 'insufficient_credits' | 'concurrency' | 'no_phone_number'
/** `missed`: no process was there when it was due. */
export type CallbackFailure = PlacingFailure | 'missed'

export type Callback = Tenant & {
  id: string
  sourceSessionId: string
  /** The session of the call that was placed. */
  createdSessionId: string | null
  agentId: string | null
  phoneNumberId: string | null
  /** E.164. */
  toNumber: string
  fromNumber: string | null
  scheduledAtMs: number
  status: CallbackStatus
  reason: string | null
  /** For the agent that makes the call. */
  instructions: string | null
  /** Why the last attempt failed. Null while the next one is under way. */
  failureCause: CallbackFailure | null
  attemptedAtMs: number | null
  dispatchedAtMs: number | null
  cancelledAtMs: number | null
  createdAtMs: number
  updatedAtMs: number
  /** Attempts at its time and later, as opposed to those that a request asked for. */
  tries: number
  nextTryAtMs: number
  /**
   * Held by the process that places the call. The session of the call gets this id, so that the process that takes over
   * from one that died sees whether the call was placed.
   */
  lease: { id: string; untilMs: number } | null
}

/** Whether a session has promised a call. `last` is its last callback: a promise replaces the one before. */
export function isPromised(last: Pick<Callback, 'status'> | null): boolean {
  return last !== null && last.status !== 'cancelled'
}

/** With the parts of its session that an answer shows. */
export type WholeCallback = {
  callback: Callback
  pipeline: Pipeline
  metadata: Record<string, unknown>
  webhookTags: Record<string, string>
  /** Null until the session is analysed. */
  summary: string | null
}

/** The number that the configuration of the tool names. Undefined: the oldest number that can call is taken. */
export function configuredNumberOf({ tools }: Pick<Pipeline, 'tools'>): string | undefined {
  const numbers = tools.flatMap(({ source }) =>
    source.kind === 'builtin' && source.name === 'schedule_callback' ? (source.config?.phoneNumberId ?? []) : [],
  )
  return numbers[0]
}

/** The part that the agent promises. */
export type WantedCallback = Pick<Callback, 'toNumber' | 'scheduledAtMs' | 'reason' | 'instructions'>

/** `session` is the one in which it is promised. */
export function newCallback(
  session: Tenant & { id: string; agentId: string | null },
  wanted: WantedCallback,
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
    ...wanted,
    status: 'scheduled',
    failureCause: null,
    attemptedAtMs: null,
    dispatchedAtMs: null,
    cancelledAtMs: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    tries: 0,
    nextTryAtMs: wanted.scheduledAtMs,
    lease: null,
  }
}
