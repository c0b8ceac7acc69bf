/**
 * System interfaces that all capabilities need. They are passed as parameters, so tests can advance the time without
 * sleeping.
 */

import type { TraceHeaders } from './trace.ts'

export interface Clock {
  /** Returns the wall clock's time in milliseconds since the epoch. */
  nowMs(): number
  /** Returns milliseconds since an arbitrary start. Never goes back, so it is used for durations. */
  monotonicMs(): number
  /** Calls `run` once after `delayMs`. The returned function cancels it. */
  after(delayMs: number, run: () => void): () => void
}

export interface Ids {
  /** Makes a request id, `req_` and a nanoid. */
  request(): string
  /** Makes an attempt id, `att_` and a nanoid. */
  attempt(): string
}

/** `fields` must never contain content: speech, prompts, numbers or keys. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface Metrics {
  /** Counts one attempt at a provider. Labels have few possible values, so an organization is never a label. */
  attempt(stage: string, provider: string, model: string, outcome: string, durationMs: number): void
  /** Records the milliseconds from an attempt's dispatch to its first media byte or token. */
  firstByte(stage: string, provider: string, model: string, durationMs: number): void
  /** Counts the quantities and the cost of an answered request. The cost is null if its price is unknown. */
  usage(
    stage: string,
    provider: string,
    model: string,
    quantities: readonly { unit: string; amount: number }[],
    costMicroUsd: number | null,
  ): void
  /**
   * Counts a refused request, or a stream's refused continuation, when the organization's credit did not cover the
   * cost.
   */
  creditRefusal(stage: string): void
  /** Counts a candidate that serves a request after an earlier candidate failed. */
  failover(stage: string): void
}

export interface CallMetrics {
  callEnded(kind: string, endReason: string): void
  /** Records the milliseconds from the caller's last speech to the agent's first played audio. */
  turnSilence(durationMs: number): void
}

/**
 * Tells work to stop because the client disconnected or a deadline passed. An AbortSignal can be used too, but creating
 * one for each request is too expensive.
 */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  /** Outbound requests under this signal get these headers. If absent or null, no header is added. */
  readonly traceHeaders?: TraceHeaders | null
  /** The organization that these outbound requests count for, because organizations share a provider's connections. */
  readonly owner?: string | undefined
  /**
   * Records the model's name from a provider's answer, for the trace. A value other than a name is ignored. Absent if
   * the trace does not need it.
   */
  answeredBy?(model: unknown): void
  addEventListener(type: 'abort', listener: CancelListener): void
  removeEventListener(type: 'abort', listener: CancelListener): void
}
/** A listener may be an object, because a closure for each request costs more. */
export type CancelListener = (() => void) | { handleEvent(): void }
