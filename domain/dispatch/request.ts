/**
 * The types for a request to a provider: its context, its plan and its limits. The other files in this folder use them.
 */
import type { EarlyLeases } from '../access/early-leases.ts'
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

/** The API client, and the data about a request that all APIs share. */
export type RequestContext = {
  caller: Caller
  requestId: string
  operation: string
  /** Set if the request is part of a call. The call already has a lease, so the request takes no lease. */
  callId?: string
  /** Absent in APIs without the header Idempotency-Key. */
  key?: Pick<KeyUse, 'keyDigest' | 'contentHash'>
  /** Aborted when the client disconnects. */
  signal: CancelSignal
  /** Absent or null if the request is not traced. */
  trace?: Trace | null
  /**
   * Fields for the request's log line. The provider and the model that served the request are added to these fields.
   */
  logFields?: Record<string, string>
}

/** An operation's requirements and its way to run one candidate. */
export type Plan<T> = {
  ask: Ask
  /** Returns the maximum quantities that the request can consume. Called only if a candidate has a price. */
  worstCase: () => Quantity[]
  /** If true, `run` resolves with the whole answer. If false, it resolves with a stream's first media. */
  atOnce: boolean
  /**
   * If true, `run` resolves before any request is sent to the provider. `DispatchedRequest.firstMedia` reports the
   * first media later.
   */
  opensOnly?: boolean
  /**
   * Limits how many candidates may receive a byte of the request. An attempt that sent no byte does not count. If
   * absent, only `attemptsMax` limits the candidates.
   */
  sendsMax?: number | undefined
  /** The duration of the audio to transcribe, if `atOnce` is true. */
  mediaMs?: number
  /**
   * Resolves with the first media, or with the whole answer if `atOnce` is true. `ports` are the provider's interfaces
   * with the key for this attempt.
   */
  run: (row: Row, signal: AttemptSignal, ports: ProviderPorts) => Promise<T>
}

/** The time limits and the number of attempts for requests to one stage: speech to text, LLM or text to speech. */
export type DispatchLimits = {
  attemptsMax: number
  /** Limits the time from an attempt's start to its first media or token. */
  firstByteMs: number
  /** Limits each pause after the first media. */
  idleMs: number
  /**
   * Limits an attempt with a whole answer. This limit is separate, because a whole answer takes longer than its first
   * token.
   */
  answerMs: number
  /** Limits all attempts together, including the delivery of the answer. */
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
  /**
   * The concurrency leases that were taken before the requests' bodies were read. If absent, each request takes its
   * lease later.
   */
  earlyLeases?: EarlyLeases
  idempotency: Idempotency
  credit: Credit
  ledger: Ledger
  limits: Readonly<Record<Stage, DispatchLimits>>
  /** The providers' names in OpenTelemetry's conventions, by id, if they differ from our ids. */
  conventionNames?: Readonly<Record<string, string>>
  /** If true, a second candidate may start while the first is late. */
  hedges?: boolean
}

/**
 * The provider and the model that served a request. `failovers` counts earlier failed attempts. With `requestId` a
 * client can read the request's route.
 */
export type Route = { provider: string; model: string; requestId: string; attemptId: string; failovers: number }
