/** A request's description: its context, its plan and its limits. The other files in this folder use it. */
import type { Limits } from '../access/limits.ts'
import type { ProviderKeys } from '../access/provider-keys.ts'
import type { Credit, Ledger, Quantity } from '../billing/ledger.ts'
import type { UnpricedPolicy } from '../billing/unpriced.ts'
import type { Row } from '../catalog/catalog.ts'
import type { Health } from '../health/health.ts'
import type { Idempotency, KeyUse } from '../idempotency/idempotency.ts'
import type { Stage } from '../ports/model.ts'
import type { ProviderPorts } from '../ports/provider.ts'
import type { CancelSignal, Clock, Ids, Log, Metrics } from '../ports/system.ts'
import type { Trace } from '../ports/trace.ts'
import type { Caller } from '../records/organization.ts'
import type { Ask } from '../routing/ask.ts'
import type { Chooser } from '../routing/chooser.ts'
import type { AttemptSignal } from './attempt-signal.ts'

/** A request's caller, and the facts common to all surfaces. */
export type RequestContext = {
  caller: Caller
  requestId: string
  operation: string
  /** The request is a part of this call. The call has a lease already, so the request takes no lease. */
  callId?: string
  /** Absent on surfaces without an Idempotency-Key. */
  key?: Pick<KeyUse, 'keyDigest' | 'contentHash'>
  /** Aborted when the client has gone. */
  signal: CancelSignal
  /** Absent or null if the request is not traced. */
  trace?: Trace | null
  /** Fields for the request's log line. The serving route is added to them. */
  logFields?: Record<string, string>
}

/** An operation's request to providers. */
export type Plan<T> = {
  ask: Ask
  /** The most the request can consume. Called only if a candidate has a price. */
  worstCase: () => Quantity[]
  /** True: `run` resolves with the whole answer. False: with a stream's first media. */
  atOnce: boolean
  /**
   * True: `run` resolves before any request to the provider. `DispatchedRequest.firstMedia` reports the first media.
   */
  opensOnly?: boolean
  /** The most candidates to send a byte to. If an attempt sent no byte, it does not count. Absent: no such limit. */
  sendsMax?: number | undefined
  /** For an answer at once: the processed audio's duration. */
  mediaMs?: number
  /**
   * Resolves with the first media, or with the whole answer if `atOnce` is true.
   * `ports` are the row's provider with this attempt's key.
   */
  run: (row: Row, signal: AttemptSignal, ports: ProviderPorts) => Promise<T>
}

/** One stage's limits. */
export type DispatchLimits = {
  attemptsMax: number
  /** For one attempt up to its first media or token. */
  firstByteMs: number
  /** For each pause after the first media. */
  idleMs: number
  /** For one attempt with a whole answer. This limit is separate, because a long answer is not late. */
  answerMs: number
  /** For all attempts together, including their delivery. */
  totalMs: number
}

export type DispatchDeps = UnpricedPolicy & {
  clock: Clock
  ids: Ids
  log: Log
  metrics: Metrics
  health: Health
  providerKeys: ProviderKeys
  chooser: Chooser
  concurrency: Limits
  idempotency: Idempotency
  credit: Credit
  ledger: Ledger
  limits: Readonly<Record<Stage, DispatchLimits>>
  /** Providers' names in OpenTelemetry's conventions, by id, if they differ from our ids. */
  conventionNames?: Readonly<Record<string, string>>
  /** True: a second candidate may start while the first is late. */
  hedges?: boolean
}

/** The serving route of a request. `failovers` counts earlier failed attempts. */
export type Route = { provider: string; model: string; attemptId: string; failovers: number }
