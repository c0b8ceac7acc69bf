/** The ports that every capability needs and never makes itself, so that each schedule is tested without sleeping. */

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
  /** One attempt at a provider; labels are closed sets, an organization is never one. */
  attempt(stage: string, provider: string, model: string, outcome: string, durationMs: number): void
  /** Milliseconds from the dispatch of an attempt to its first media byte or token. */
  firstByte(stage: string, provider: string, model: string, durationMs: number): void
  /** The quantities and the cost of a request that a provider answered; null: its price is unknown. */
  usage(
    stage: string,
    provider: string,
    model: string,
    quantities: readonly { unit: string; amount: number }[],
    costMicroUsd: number | null,
  ): void
  /** The credit of an organization did not cover a request, or the next slice of a stream. */
  creditRefusal(stage: string): void
  /** A candidate serves a request because one before it has failed. */
  failover(stage: string): void
}

export interface CallMetrics {
  callEnded(kind: string, endReason: string): void
  /** Milliseconds from the end of the caller's speech to the first audio of the agent that was played. */
  turnSilence(durationMs: number): void
}

/** Whether somebody has given up: a client that left, a deadline. An AbortSignal is one; making one for each request is what this spares. */
export interface CancelSignal {
  readonly aborted: boolean
  readonly reason: unknown
  /** Requests under this signal have these headers. Absent or null: no header is added. */
  readonly traceHeaders?: TraceHeaders | null
  /** Notes the model that an answer names, for the trace. Anything but a name is ignored. Absent: nobody wants to know. */
  answeredBy?(model: unknown): void
  addEventListener(type: 'abort', listener: CancelListener): void
  removeEventListener(type: 'abort', listener: CancelListener): void
}
/** An object where a closure for each request would cost too much. */
export type CancelListener = (() => void) | { handleEvent(): void }
