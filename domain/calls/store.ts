/** The stored calls. Every method reads and writes rows of one tenant alone; an id of another form is an unknown one. */
import type { SecretsByTool } from '../agents/join-tools.ts'
import type { LedgerAttempt } from '../billing/ledger.ts'
import type { Stage } from '../ports/model.ts'
import type { Call, CallEntry, CallEvent, CallKind, Span, Turn } from '../records/call.ts'
import type { Callback } from '../records/callback.ts'
import type { Leg } from '../records/leg.ts'
import type { LegUse } from '../records/leg-costs.ts'
import type { Tenant } from '../records/organization.ts'
import type { Pipeline } from '../records/pipeline.ts'
import type { CallStatus, EndReason } from '../records/states/call.ts'
import type { Transfer } from '../records/transfer.ts'
import type { EndpointData, EndpointFields } from './extraction.ts'
import type { Findings, Report } from './report.ts'

/** A call without what only a look at the one call needs. */
export type CallSummary = Omit<Call, 'pipeline' | 'metadata' | 'webhookTags'> & { language: string }

/** All that are given must hold. `fromMs` is inclusive, `toMs` is not. */
export type CallFilter = {
  status?: CallStatus
  kind?: CallKind
  agentId?: string
  fromMs?: number
  toMs?: number
}

/** The time of a call in microseconds and its id, which order calls of one time. */
export type CallPosition = { createdAtUs: number; id: string }

export type RoomCall = Pick<Call, 'id' | 'identity' | 'organizationId' | 'keyId' | 'expiresAtMs' | 'ownerId'>

export type CallPage = { calls: readonly CallSummary[]; next: CallPosition | null }
/** `nextUs` is the time of the last call, in microseconds. Null: there are no older ones. */
export type AgentCallPage = { calls: readonly CallSummary[]; nextUs: number | null }

export interface CallStore {
  /** `events` are those before it was stored. */
  insert(call: Call, secrets: SecretsByTool, events?: readonly CallEvent[]): Promise<void>
  /**
   * A call by phone, with the leg of the caller. False: the line has announced this leg before, so nothing is stored.
   */
  insertPhoned(call: Call, secrets: SecretsByTool, leg: Leg): Promise<boolean>
  /** Replaces pipeline, metadata and secrets of a call whose conversation has not begun. */
  reconfigure(call: Call, secrets: SecretsByTool): Promise<void>
  find(tenant: Tenant, id: string): Promise<Call | null>
  /** The secrets are gone once the call is over. */
  findWithSecrets(tenant: Tenant, id: string): Promise<{ call: Call; secrets: SecretsByTool } | null>
  /** Newest first, from behind `after` on. */
  list(tenant: Tenant, filter: CallFilter, limit: number, after: CallPosition | null): Promise<CallPage>
  /** Newest first: those before `beforeUs` and not before `sinceUs`. Calls of one time are not parted, so it may be more than `limit`. */
  listOfAgent(
    tenant: Tenant,
    agentId: string,
    limit: number,
    range: { beforeUs: number | null; sinceUs: number | null },
  ): Promise<AgentCallPage>
  /**
   * Makes a process the owner of a call that nobody has joined; it may own the call already. `pipeline` replaces that of the call; null leaves it. False:
   * another process was faster, or it is over.
   */
  claim(tenant: Tenant, id: string, ownerId: string, pipeline: Pipeline | null): Promise<boolean>
  /** The calls in rooms that are not over, of all organizations. */
  inRooms(): Promise<readonly RoomCall[]>
  /** Takes back a claim on a call that has not begun. */
  release(tenant: Tenant, id: string, ownerId: string): Promise<void>
  /** The calls of the organization that are connected now, in both worlds. */
  countLive(organizationId: string): Promise<number>
  /** The calls of the organization that nobody has joined yet, in both worlds. */
  countQueued(organizationId: string): Promise<number>
  /**
   * Stores what happened to a call, all or nothing. Entries that are stored already are not stored again. Resolves with the
   * entries that were left out, because the states of a call forbid them. Throws the fault store_unreachable while the database is away.
   */
  append(tenant: Tenant, id: string, entries: readonly CallEntry[]): Promise<readonly CallEntry[]>
  /** Those of these calls that are over. */
  endedAmong(ids: readonly string[]): Promise<readonly EndedCall[]>
  /**
   * Ends a call that no process holds. Null: there is no such call. `owned`: a process holds it, which must end it.
   */
  endUnowned(tenant: Tenant, id: string, reason: EndReason, clientReason?: string): Promise<UnownedEnd | null>
  /**
   * Ends the calls of processes that were dead at the last look too: when the database comes back after an outage, the row
   * of every process has run out, and those that live renew theirs before the next look. `salvage` answers what becomes of
   * the recording that such a process left behind.
   */
  endOrphans(salvage: (callId: string) => Promise<SalvagedRecording>): Promise<void>
}

export type EndedCall = Tenant & { id: string; endReason: EndReason }
/** `uploading`: the file is completed and uploaded by a process of the machine that has it. */
export type SalvagedRecording = { status: 'ready'; durationMs: number } | { status: 'failed' | 'uploading' }

export type UnownedEnd = { state: 'ended_now' } | { state: 'ended_before'; endedAtMs: number } | { state: 'owned' }

/** The parts of a call that are stored beside its row. */
export interface CallRecord {
  /** By index. Those behind `afterIndex`. */
  turns(tenant: Tenant, id: string, afterIndex: number): Promise<readonly Turn[]>
  /** The oldest first. Those at `fromMs` or later. */
  events(tenant: Tenant, id: string, fromMs: number): Promise<readonly StoredEvent[]>
  /** The attempts of the requests that were parts of the call. */
  attempts(tenant: Tenant, id: string): Promise<readonly CallAttempt[]>
  /** The legs of the call that were answered. */
  legUses(tenant: Tenant, id: string): Promise<readonly LegUse[]>
}

/**
 * A call with its parts as they were at one moment: what a call writes at once, such as its status and the end of a
 * transfer, is seen together.
 */
export interface WholeCallStore {
  find(tenant: Tenant, id: string): Promise<StoredWhole | null>
}

export type StoredWhole = {
  call: Call
  /** By index. */
  turns: readonly Turn[]
  /** By their start, the last of them. */
  spans: readonly Span[]
  report: Report | null
  /** The oldest first. */
  transfers: readonly Transfer[]
}

export type StoredEvent = CallEvent & { createdAtMs: number }
export type CallAttempt = Pick<
  LedgerAttempt,
  'provider' | 'model' | 'quantities' | 'costMicroUsd' | 'priceSource' | 'keySource'
> & { stage: Stage }

export interface ReportStore {
  find(tenant: Tenant, id: string): Promise<Report | null>
  /**
   * Makes this process the only one that analyses the call until the time that `untilMs` answers for its report as it
   * stands now. null from it: nothing is to be done.
   */
  claim(tenant: Tenant, id: string, untilMs: (report: Report) => number | null): Promise<ReportClaim>
  /**
   * Stores an analysis, with its events and the next version unless it is the first, and ends the claim. Null: nothing is
   * new. `isFirst`: nothing is stored where another process has stored the first one.
   */
  complete(tenant: Tenant, id: string, analysis: Analysis | null, isFirst: boolean): Promise<void>
  /** Calls of all organizations whose analysis nobody has claimed, the oldest first. */
  pending(limit: number): Promise<readonly PendingReport[]>
}

/** `endpoints` are the extraction fields of those that receive the report, the oldest endpoint first. `taken`: by another process. */
export type ReportClaim =
  | { state: 'claimed'; report: Report; endpoints: readonly EndpointFields[] }
  | { state: 'taken' | 'not_needed' }

/** `madeAtMs`: when the call ended. */
export type PendingReport = Tenant & { callId: string; madeAtMs: number }

export type Analysis = Findings & {
  endpointData: EndpointData
  status: 'heuristic' | 'completed' | 'failed'
  provider: string | null
  model: string | null
  /** Says why nothing usable came. Never content. */
  error: string | null
  /** The user asked for it in the call. It is stored with the analysis. */
  callback: Callback | null
}

/** Says which calls have changed, in any process. */
export interface CallChanges {
  /** Calls back after each change of the call, also when one may have been missed, until the returned function is called. */
  watch(callId: string, changed: () => void): () => void
}
