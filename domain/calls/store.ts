/**
 * Stores calls. A method without a tenant works across organizations; every other method reads and writes one tenant's
 * rows. An id in another form counts as unknown.
 */
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

/** A call as lists show it: without the fields of the single view. */
export type CallSummary = Omit<Call, 'pipeline' | 'metadata' | 'webhookTags'> & { language: string }

/** All given conditions must hold. `fromMs` is inclusive, `toMs` is not. */
export type CallFilter = {
  status?: CallStatus
  kind?: CallKind
  agentId?: string
  fromMs?: number
  toMs?: number
}

/** A call's time in microseconds, and its id, because several calls may have the same time. */
export type CallPosition = { createdAtUs: number; id: string }

export type RoomCall = Pick<Call, 'id' | 'identity' | 'organizationId' | 'keyId' | 'expiresAtMs' | 'ownerId'>

export type CallPage = { calls: readonly CallSummary[]; next: CallPosition | null }
/** `nextUs` is the last call's time in microseconds. Null if there are no older calls. */
export type AgentCallPage = { calls: readonly CallSummary[]; nextUs: number | null }

export interface CallStore {
  /** `events` occurred before the call was stored. */
  insert(call: Call, secrets: SecretsByTool, events?: readonly CallEvent[]): Promise<void>
  /** Stores a phone call with the caller's leg. False if the line has announced this leg before: nothing is stored. */
  insertPhoned(call: Call, secrets: SecretsByTool, leg: Leg): Promise<boolean>
  /** Replaces pipeline, metadata and secrets before the conversation begins. */
  reconfigure(call: Call, secrets: SecretsByTool): Promise<void>
  find(tenant: Tenant, id: string): Promise<Call | null>
  /** The secrets are deleted when the call ends. */
  findWithSecrets(tenant: Tenant, id: string): Promise<{ call: Call; secrets: SecretsByTool } | null>
  /** Newest first, beginning after `after`. */
  list(tenant: Tenant, filter: CallFilter, limit: number, after: CallPosition | null): Promise<CallPage>
  /**
   * Newest first: calls before `beforeUs`, but not before `sinceUs`. Calls with the same time stay together, so there
   * may be more than `limit`.
   */
  listOfAgent(
    tenant: Tenant,
    agentId: string,
    limit: number,
    range: { beforeUs: number | null; sinceUs: number | null },
  ): Promise<AgentCallPage>
  /**
   * Makes a process the owner of an unjoined call, or confirms its ownership. `pipeline` replaces the call's pipeline
   * unless it is null. False if another process was faster, or if the call is over.
   */
  claim(tenant: Tenant, id: string, ownerId: string, pipeline: Pipeline | null): Promise<boolean>
  /** The unfinished calls in rooms, for all organizations. */
  inRooms(): Promise<readonly RoomCall[]>
  /** Takes back a claim if the call has not begun. */
  release(tenant: Tenant, id: string, ownerId: string): Promise<void>
  /** Counts the organization's connected calls in both worlds. */
  countLive(organizationId: string): Promise<number>
  /** Counts the organization's unjoined calls in both worlds. */
  countQueued(organizationId: string): Promise<number>
  /**
   * Stores entries, all or nothing. Already stored entries are skipped. Resolves with the refused entries, because the
   * state rules forbid some moves. Throws the fault `store_unreachable` while the database is away.
   */
  append(tenant: Tenant, id: string, entries: readonly CallEntry[]): Promise<readonly CallEntry[]>
  /** Filters the ids: returns the ended calls. */
  endedAmong(ids: readonly string[]): Promise<readonly EndedCall[]>
  /** Ends a call without an owner. Null if there is no such call. `owned` if a process holds it and must end it. */
  endUnowned(tenant: Tenant, id: string, reason: EndReason, clientReason?: string): Promise<UnownedEnd | null>
  /**
   * Ends the calls of a process that is dead now and was dead at the previous look. When the database returns after an
   * outage, every process's row has expired, and a live process renews its row before the next look. `salvage` decides
   * about the recording left by the dead process.
   */
  endOrphans(salvage: (callId: string) => Promise<SalvagedRecording>): Promise<void>
}

export type EndedCall = Tenant & { id: string; endReason: EndReason }
/** `uploading` if a process on the file's machine must complete and upload it. */
export type SalvagedRecording = { status: 'ready'; durationMs: number } | { status: 'failed' | 'uploading' }

export type UnownedEnd = { state: 'ended_now' } | { state: 'ended_before'; endedAtMs: number } | { state: 'owned' }

/** The parts of a call stored outside its row. */
export interface CallRecord {
  /** Turns after `afterIndex`, by index. */
  turns(tenant: Tenant, id: string, afterIndex: number): Promise<readonly Turn[]>
  /** Events at `fromMs` or later, oldest first. */
  events(tenant: Tenant, id: string, fromMs: number): Promise<readonly StoredEvent[]>
  /** The attempts made for the call's requests. */
  attempts(tenant: Tenant, id: string): Promise<readonly CallAttempt[]>
  /** The call's answered legs. */
  legUses(tenant: Tenant, id: string): Promise<readonly LegUse[]>
}

/**
 * Reads a call with its parts from one snapshot. Values written together, such as the call's status and a transfer's
 * end, are also seen together.
 */
export interface WholeCallStore {
  find(tenant: Tenant, id: string): Promise<StoredWhole | null>
}

export type StoredWhole = {
  call: Call
  turns: readonly Turn[]
  /** By start. A long call has only its last spans here. */
  spans: readonly Span[]
  report: Report | null
  /** Oldest first. */
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
   * Makes this process the call's only analyser until a deadline. `untilMs` computes the deadline from the current
   * report, or returns null if nothing is to be done.
   */
  claim(tenant: Tenant, id: string, untilMs: (report: Report) => number | null): Promise<ReportClaim>
  /**
   * Stores an analysis with its events and ends the claim. The version rises unless the analysis is the first.
   * `analysis` is null if there is nothing new. If `isFirst` and another process has stored the first analysis, nothing
   * is stored.
   */
  complete(tenant: Tenant, id: string, analysis: Analysis | null, isFirst: boolean): Promise<void>
  /** All organizations' unclaimed pending reports, oldest first. */
  pending(limit: number): Promise<readonly PendingReport[]>
}

/**
 * `endpoints` has the receiving endpoints' extraction fields, oldest endpoint first. `taken`: another process has the
 * claim.
 */
export type ReportClaim =
  | { state: 'claimed'; report: Report; endpoints: readonly EndpointFields[] }
  | { state: 'taken' | 'not_needed' }

/** `madeAtMs` is the call's end. */
export type PendingReport = Tenant & { callId: string; madeAtMs: number }

export type Analysis = Findings & {
  endpointData: EndpointData
  status: 'heuristic' | 'completed' | 'failed'
  provider: string | null
  model: string | null
  /** The reason for a missing or unusable answer. Never content. */
  error: string | null
  /** The callback the user asked for. It is stored with the analysis. */
  callback: Callback | null
}

/** Notifies about changed calls, in any process. */
export interface CallChanges {
  /** Calls `changed` after each change, and after a possibly missed change, until the returned function is called. */
  watch(callId: string, changed: () => void): () => void
}
