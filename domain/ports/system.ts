/** System ports needed by every capability. They are handed in, so each schedule is tested without sleeping. */

import type { TraceHeaders } from './trace.ts'

export interface Clock {
  /** Wall time, milliseconds since the epoch. */
  nowMs(): number
  /** Never goes back; milliseconds from an arbitrary start. For durations. */
  monotonicMs(): number
  /** Calls `run` once after `delayMs`; the answer cancels it. */
  after(delayMs: number, run: () => void): () => void
}

export interface Ids {
  /** `req_…`: nanoid with a prefix. */
  request(): string
  /** `att_…` */
  attempt(): string
}

/** Content (speech, prompts, numbers, keys) never goes into `fields`. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface Metrics {
  /** One attempt at a provider. Labels are closed sets; an organization is never a label. */
  attempt(stage: string, provider: string, model: string, outcome: string, durationMs: number): void
  /** Milliseconds from an attempt's dispatch to its first media byte or token. */
  firstByte(stage: string, provider: string, model: string, durationMs: number): void
  /** An answered request's quantities and cost. The cost is null if its price is unknown. */
  usage(
    stage: string,
    provider: string,
    model: string,
    quantities: readonly { unit: string; amount: number }[],
    costMicroUsd: number | null,
  ): void
  /** An organization's credit did not cover a request, or a stream's next slice. */
  creditRefusal(stage: string): void
  /** A candidate serves a request after an earlier candidate failed. */
  failover(stage: string): void
}

export interface CallMetrics {
  callEnded(kind: string, endReason: string): void
  /** Milliseconds from the end of the caller's speech to the agent's first played audio. */
  turnSilence(durationMs: number): void
}

/**
 * Tells whether the work was given up: a client left, or a deadline passed. An AbortSignal fits too, but creating one
 * for each request is too expensive.
 */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  /** Requests under this signal have these headers. If absent or null, no header is added. */
  readonly traceHeaders?: TraceHeaders | null
  /**
   * Records the model named in an answer, for the trace. A value other than a name is ignored. Absent if it is not
   * needed.
   */
  answeredBy?(model: unknown): void
  addEventListener(type: 'abort', listener: CancelListener): void
  removeEventListener(type: 'abort', listener: CancelListener): void
}
/** An object, if a closure for each request would cost too much. */
export type CancelListener = (() => void) | { handleEvent(): void }
