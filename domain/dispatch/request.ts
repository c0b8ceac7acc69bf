/** The records that a request is described by. The other files of this folder use them. */
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

/** The caller of a request and what every surface knows of it. */
export type RequestContext = {
  caller: Caller
  requestId: string
  operation: string
  /** The call that the request is a part of. The call has its own lease, so the request takes none. */
  callId?: string
  /** Absent on surfaces without an Idempotency-Key. */
  key?: Pick<KeyUse, 'keyDigest' | 'contentHash'>
  /** Aborted when the client has gone. */
  signal: CancelSignal
  /** Where the request is in a trace. Absent or null: nobody traces it. */
  trace?: Trace | null
  /** Fields of the line that the log has for the request. The route that serves is added to them. */
  logFields?: Record<string, string>
}

/** How an operation is asked of providers. */
export type Plan<T> = {
  ask: Ask
  /** The most that the request can consume. Called only where a candidate has a price. */
  worstCase: () => Quantity[]
  /** Whether `run` resolves with the whole answer, and not with the first of a stream. */
  atOnce: boolean
  /** `run` resolves before the provider was asked for anything; `DispatchedRequest.firstMedia` says when its first media came. */
  opensOnly?: boolean
  /** The number of candidates that may be sent a byte. An attempt that sent none does not count here. Absent: no such limit. */
  sendsMax?: number | undefined
  /** For an answer at once: the duration of the audio that is processed for it. */
  mediaMs?: number
  /**
   * Resolves with the first media, or with the whole answer where it comes `atOnce`.
   * `ports` are the row's provider with the key of this attempt.
   */
  run: (row: Row, signal: AttemptSignal, ports: ProviderPorts) => Promise<T>
}

/** The limits of one stage. */
export type DispatchLimits = {
  attemptsMax: number
  /** One attempt up to its first media or token. */
  firstByteMs: number
  /** A pause after that. */
  idleMs: number
  /** One attempt that answers in one piece: a long answer is not a late one. */
  answerMs: number
  /** All attempts together, with all that they deliver. */
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
  /** Names of providers in OpenTelemetry's conventions, by id, where they differ from ours. */
  conventionNames?: Readonly<Record<string, string>>
  /** Whether a second candidate may be asked while the first is late. */
  hedges?: boolean
}

/** The route that served a request. `failovers` counts the attempts that failed before. */
export type Route = { provider: string; model: string; attemptId: string; failovers: number }
