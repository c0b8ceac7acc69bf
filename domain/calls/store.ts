/**
 * Stores calls. A method without a tenant works across organizations; every other method reads and writes one tenant's
 * rows. A malformed id is treated as unknown.
 */
import type { SecretsByTool } from '../agents/join-tools.ts'
import type { LedgerAttempt, LedgerRow } from '../billing/ledger.ts'
import type { Stage } from '../ports/model.ts'
import type { Call, CallEntry, CallEvent, CallKind, CallPhone, Span, Turn } from '../records/call.ts'
import type { Callback } from '../records/callback.ts'
import type { Leg } from '../records/leg.ts'
import type { LegUse } from '../records/leg-costs.ts'
import type { Tenant } from '../records/organization.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { CallStatus, EndReason } from '../records/states/call.ts'
import type { Transfer } from '../records/transfer.ts'
import type { EndpointData, EndpointFields } from './extraction.ts'
import type { Findings, Outcome, Report } from './report.ts'

/** A call in a list. It lacks the large fields, which are shown only for a single call. */
export type CallSummary = Omit<Call, 'pipeline' | 'metadata' | 'webhookTags'> & { language: string }

/** A call must meet all given conditions. `fromMs` is inclusive, `toMs` is not. */
export type CallFilter = {
  status?: CallStatus
  kind?: CallKind
  agentId?: string
  fromMs?: number
  toMs?: number
  direction?: CallPhone['direction']
  outcome?: Outcome
  endReason?: EndReason
  phoneNumberId?: string
  /** The phone number of either party in E.164, or its last digits. */
  number?: string
  isLive?: boolean
  /** Limits on the duration. Only ended calls have a duration. */
  minDurationS?: number
  maxDurationS?: number
  /** Limits on the cost. Only ended calls match them. */
  minCostMicroUsd?: number
  maxCostMicroUsd?: number
  /** The minimum latency of a call's slowest turn. */
  minLatencyMs?: number
  agentVersion?: number
  /** A call matches only if all of these have happened in it. */
  has?: readonly CallHappening[]
}

export type CallHappening = 'tool_failure' | 'transfer' | 'interruption' | 'failover' | 'recording'

/** Lists are in descending order. Calls without a value are last. */
export type CallSort = 'created_at' | 'duration_seconds' | 'cost_micro_usd' | 'slowest_turn_ms'
/**
 * A call's position in a sorted list. `at` is the value that the list is sorted by, or the call's creation time in
 * microseconds. It is -1 if the call has no such value.
 */
export type OverviewPosition = { at: number; id: string }
export type OverviewQuery = {
  filter: CallFilter
  words: readonly string[]
  /** A search for words is always sorted by `created_at`. */
  sort: CallSort
  limit: number
  after: OverviewPosition | null
}

/** A call in a list of calls, with sums over its turns. */
export type CallOverview = CallSummary & {
  /** Null if there is no stored agent or it was deleted. */
  agentName: string | null
  /** Null until there is a report. */
  outcome: Outcome | null
  turns: number
  interruptions: number
  toolCalls: number
  toolFailures: number
  transfers: number
  failovers: number
  agentVersion: number | null
  /** Null while the call is live, and until the last costs are stored after its end. */
  costMicroUsd: number | null
  /** The median and the greatest conversational latency. Null if no turn has one. */
  latencyMs: { p50: number; max: number } | null
  slowestTurn: { index: number; latencyMs: number; startedAtMs: number } | null
  /** The first turns that contain the searched words. Empty if no words were searched. */
  matches: readonly TurnMatch[]
}
/** `text` is the part of the turn around the first searched word. */
export type TurnMatch = { index: number; source: Turn['source']; startedAtMs: number; text: string }
export type CallOverviewPage = { calls: readonly CallOverview[]; next: OverviewPosition | null }

/**
 * A call's position in a list: its creation time in microseconds, and its id, because several calls may have the same
 * time.
 */
export type CallPosition = { createdAtUs: number; id: string }

export type RoomCall = Pick<Call, 'id' | 'identity' | 'organizationId' | 'keyId' | 'expiresAtMs' | 'ownerId'>

export type CallPage = { calls: readonly CallSummary[]; next: CallPosition | null }
/** `nextUs` is the time of the page's last call, in microseconds. It is null if there are no older calls. */
export type AgentCallPage = { calls: readonly CallSummary[]; nextUs: number | null }

export interface CallStore {
  /** Stores a new call, and `events` that happened before it was stored. */
  insert(call: Call, secrets: SecretsByTool, events?: readonly CallEvent[]): Promise<void>
  /**
   * Stores a phone call with the caller's leg. Resolves with false, and stores nothing, if the leg is stored already,
   * because the carrier announced the leg twice.
   */
  insertPhoned(call: Call, secrets: SecretsByTool, leg: Leg): Promise<boolean>
  /** Replaces the call's pipeline, metadata and secrets before the conversation begins. */
  reconfigure(call: Call, secrets: SecretsByTool): Promise<void>
  find(tenant: Tenant, id: string): Promise<Call | null>
  /** Finds a call with its tools' secrets. The secrets are deleted when the call ends. */
  findWithSecrets(tenant: Tenant, id: string): Promise<{ call: Call; secrets: SecretsByTool } | null>
  /** Lists calls, newest first. The page begins after the position `after`. */
  list(tenant: Tenant, filter: CallFilter, limit: number, after: CallPosition | null): Promise<CallPage>
  /**
   * Lists calls, each with an overview. If there are `words`, one turn must contain every word. A page reads a limited
   * number of calls and turns, so it can have fewer calls than `limit` although more calls match.
   */
  overview(tenant: Tenant, query: OverviewQuery): Promise<CallOverviewPage>
  /** Returns overviews of these calls in any order. Calls outside the filter are left out. */
  overviewsOf(tenant: Tenant, filter: CallFilter, ids: readonly string[]): Promise<readonly CallOverview[]>
  /**
   * Stores the total cost of ended calls. Also computes the facts (the columns to filter and sort by) for calls that a
   * previous version of Parley stored.
   */
  completeFacts(): Promise<void>
  /**
   * Lists an agent's calls, newest first: calls before `beforeUs`, but not before `sinceUs`. Calls with the same time
   * stay on one page, so it may have more than `limit` calls.
   */
  listOfAgent(
    tenant: Tenant,
    agentId: string,
    limit: number,
    range: { beforeUs: number | null; sinceUs: number | null },
  ): Promise<AgentCallPage>
  /**
   * Makes a process the owner of an unjoined call, or confirms its ownership. `pipeline` replaces the call's pipeline
   * unless it is null. Resolves with false if the call belongs to another process, or if the call is over.
   */
  claim(tenant: Tenant, id: string, ownerId: string, pipeline: Pipeline | null): Promise<boolean>
  /** Lists the organization's unfinished calls with an owning process, live and test calls together, oldest first. */
  owned(organizationId: string): Promise<readonly OwnedCall[]>
  /** Lists the unfinished calls in media rooms, for all organizations. */
  inRooms(): Promise<readonly RoomCall[]>
  /** Undoes a process's claim if the call's conversation has not begun. */
  release(tenant: Tenant, id: string, ownerId: string): Promise<void>
  /** Counts the organization's connected calls, live and test calls together. */
  countLive(organizationId: string): Promise<number>
  /** Counts the organization's unjoined calls, live and test calls together. */
  countQueued(organizationId: string): Promise<number>
  /**
   * Stores all entries in one transaction. Already stored entries are skipped. Resolves with the entries that the state
   * rules forbid. Throws the fault `store_unreachable` while the database is unreachable.
   */
  append(tenant: Tenant, id: string, entries: readonly CallEntry[]): Promise<readonly CallEntry[]>
  /** Returns the ended calls among these ids. */
  endedAmong(ids: readonly string[]): Promise<readonly EndedCall[]>
  /**
   * Ends a call if no process owns it. Resolves with null if there is no such call, and with `owned` if a process owns
   * it and must end it.
   */
  endUnowned(tenant: Tenant, id: string, reason: EndReason, clientReason?: string): Promise<UnownedEnd | null>
  /**
   * Ends the calls of a process that is dead now and was dead at the previous check. One check is not enough: when the
   * database returns after an outage, each process's row has expired, and a live process renews its row before the next
   * check. `salvage` decides if the dead process's recording can be used.
   */
  endOrphans(salvage: (callId: string) => Promise<SalvagedRecording>): Promise<void>
}

export type OwnedCall = Tenant & { id: string; ownerId: string }
export type EndedCall = Tenant & { id: string; endReason: EndReason }
/** `uploading`: a process on the file's machine must complete and upload the file. */
export type SalvagedRecording = { status: 'ready'; durationMs: number } | { status: 'failed' | 'uploading' }

export type UnownedEnd = { state: 'ended_now' } | { state: 'ended_before'; endedAtMs: number } | { state: 'owned' }

/** Reads the parts of a call stored outside its row. */
export interface CallRecord {
  /** Returns the turns after `afterIndex`, in order. */
  turns(tenant: Tenant, id: string, afterIndex: number): Promise<readonly Turn[]>
  /**
   * Returns the events stored at `fromMs` or later (`createdAtMs`), in the order in which they happened. A call's event
   * never has an earlier `createdAtMs` than the events stored before it, even if two processes store them.
   */
  events(tenant: Tenant, id: string, fromMs: number): Promise<readonly StoredEvent[]>
  /** Returns the attempts at providers made for the call. */
  attempts(tenant: Tenant, id: string): Promise<readonly CallAttempt[]>
  /** Returns the requests to models that were made for the call, oldest first. */
  requests(tenant: Tenant, id: string): Promise<CallRequests>
  /** Returns the durations and prices of the call's answered legs. */
  legUses(tenant: Tenant, id: string): Promise<readonly LegUse[]>
}

/**
 * Reads a call with its parts from one snapshot. Values written together, such as the call's status and a transfer's
 * end, are also seen together.
 */
/** The contract's limits for one response: the first turns and events, and the last spans. */
export const readMax = { turns: 10_000, events: 10_000, spans: 500 } as const

export interface WholeCallStore {
  find(tenant: Tenant, id: string): Promise<StoredWhole | null>
}

export type StoredWhole = CallOrigin & {
  call: Call
  turns: readonly Turn[]
  /** Ordered by start time. If a call has too many spans, only its last spans are here. */
  spans: readonly Span[]
  report: Report | null
  /** Transfer attempts, oldest first. */
  transfers: readonly Transfer[]
}

export type CallOrigin = {
  /** The agent's current name. Null if the call has no stored agent, or if the agent was deleted. */
  agentName: string | null
  startedBy: { type: 'api_key' | 'user' | 'phone_number' | 'callback'; id: string; name: string | null }
  /** The time of the recording's first sample. Null if there is no recording, or if the call's events were deleted. */
  recordingStartedAtMs: number | null
}

/** `isComplete` is false if old requests were deleted, or if the call has too many requests for one answer. */
export type CallRequests = { requests: readonly CallRequest[]; isComplete: boolean }

export type CallRequest = Pick<
  LedgerRow,
  | 'requestId'
  | 'stage'
  | 'operation'
  | 'provider'
  | 'model'
  | 'outcome'
  | 'startedAtMs'
  | 'durationMs'
  | 'firstByteMs'
  | 'costMicroUsd'
  | 'attempts'
> & {
  /** Null if the request served several turns, or no turn. */
  turnIndex: number | null
  /** True if the choice of the model can still be read. */
  hasRoute: boolean
}

export type StoredEvent = CallEvent & { createdAtMs: number }
export type CallAttempt = Pick<
  LedgerAttempt,
  'provider' | 'model' | 'quantities' | 'costMicroUsd' | 'priceSource' | 'keySource'
> & { stage: Stage }

export interface ReportStore {
  find(tenant: Tenant, id: string): Promise<Report | null>
  /**
   * Makes this process the only analyser of the call until a deadline. `untilMs` computes the deadline from the current
   * report. It returns null if the report needs no analysis.
   */
  claim(tenant: Tenant, id: string, untilMs: (report: Report) => number | null): Promise<ReportClaim>
  /**
   * Stores an analysis with its events and ends the claim. The report's version rises unless the analysis is the first.
   * If `analysis` is null, only the claim ends. If `isFirst` and another process has stored the first analysis, nothing
   * is stored.
   */
  complete(tenant: Tenant, id: string, analysis: Analysis | null, isFirst: boolean): Promise<void>
  /** Lists unclaimed pending reports from all organizations, oldest first. */
  pending(limit: number): Promise<readonly PendingReport[]>
}

/**
 * `endpoints` are the report's receivers with their extraction fields, oldest endpoint first. `taken`: another process
 * has the claim.
 */
export type ReportClaim =
  | { state: 'claimed'; report: Report; endpoints: readonly EndpointFields[] }
  | { state: 'taken' | 'not_needed' }

/** `madeAtMs` is the time of the call's end. */
export type PendingReport = Tenant & { callId: string; madeAtMs: number }

export type Analysis = Findings & {
  endpointData: EndpointData
  status: 'heuristic' | 'completed' | 'failed'
  provider: string | null
  model: string | null
  /** The reason for a missing or unusable answer. It never quotes the call. */
  error: string | null
  /** The callback requested by the user. It is stored together with the analysis. */
  callback: Callback | null
}

/** Notifies about changes to one call, in any process. */
export interface CallChanges {
  /**
   * Calls `changed` after each change to the call, and once more if a change may have been missed. Returns a function
   * that stops the watch.
   */
  watch(callId: string, changed: () => void): () => void
}

/** Notifies about changes to any call of a tenant, in any process. */
export interface CallsChanges {
  /**
   * Calls `changed` with the id of each changed call, and with null if changes may have been missed. Returns a function
   * that stops the watch.
   */
  watch(tenant: Tenant, changed: (callId: string | null) => void): () => void
}
