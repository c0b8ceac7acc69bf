/** Reads a call with its turns, spans, report and transfers. */
import type { CallbackStore } from '../callbacks/store.ts'
import type { Clock } from '../ports/system.ts'
import type { AgentStore } from '../records/agent.ts'
import type { Call, Turn } from '../records/call.ts'
import type { WholeCallback } from '../records/callback.ts'
import type { Tenant } from '../records/organization.ts'
import type { RecordingContent } from '../records/recording.ts'
import { ResourceFault, requireResource } from '../records/resource-fault.ts'
import { isTerminal } from '../records/states/call.ts'
import type { Transfer } from '../records/transfer.ts'
import { type ReportDeliveries, type ReportDeliveryStore, summarized } from '../webhooks/report-deliveries.ts'
import { type Costs, costsOf } from './costs.ts'
import type { Report } from './report.ts'
import { type SpanTree, spanTree } from './span-tree.ts'
import {
  type AgentCallPage,
  type CallFilter,
  type CallOrigin,
  type CallOverviewPage,
  type CallPage,
  type CallPosition,
  type CallRecord,
  type CallRequests,
  type CallStore,
  type OverviewQuery,
  type ReportStore,
  readMax,
  type StoredEvent,
  type StoredWhole,
  type WholeCallStore,
} from './store.ts'
import type { RecordingLink, StoredRecordings } from './stored-recordings.ts'

export type CallsDeps = {
  agents: Pick<AgentStore, 'find'>
  calls: CallStore
  record: CallRecord
  reports: Pick<ReportStore, 'find'>
  recordings: Pick<StoredRecordings, 'find' | 'link' | 'peaks'>
  callbacks: Pick<CallbackStore, 'ofSession'>
  wholeCalls: WholeCallStore
  deliveries: Pick<ReportDeliveryStore, 'ofReport'>
  clock: Clock
}

export type WholeReport = {
  call: Call
  report: Report
  turns: readonly Turn[]
  costs: Costs
  /** The last callback promised in the session. */
  callback: WholeCallback | null
  deliveries: ReportDeliveries
}
export type WholeCall = CallOrigin & {
  call: Call
  turns: readonly Turn[]
  spans: SpanTree | null
  report: WholeReport | null
  /** Transfer attempts, oldest first. */
  transfers: readonly Transfer[]
}

export type EndedCall = {
  whole: WholeCall
  events: readonly StoredEvent[]
  /** Null if there is no recording, if it is not ready, or if it is lost. */
  recording: RecordingContent | null
  /** False if this part of the call may be incomplete, or if the recording is lost. */
  complete: { transcript: boolean; events: boolean; spans: boolean; recording: boolean }
}

/** Every method throws ResourceFault `not_found` if the tenant has no such call. */
export class Calls {
  readonly #deps: CallsDeps

  constructor(deps: CallsDeps) {
    this.#deps = deps
  }

  async get(tenant: Tenant, id: string): Promise<Call> {
    return requireResource(await this.#deps.calls.find(tenant, id))
  }

  async whole(tenant: Tenant, id: string): Promise<WholeCall> {
    return this.#wholeOf(tenant, requireResource(await this.#deps.wholeCalls.find(tenant, id)))
  }

  async #wholeOf(
    tenant: Tenant,
    { call, turns, spans, report, transfers, ...origin }: StoredWhole,
  ): Promise<WholeCall> {
    const { clock } = this.#deps
    const tree = spanTree(call, spans, clock.nowMs())
    const whole = report && (await this.#wholeReport(tenant, call, report, turns))
    return { call, turns, spans: tree, report: whole, transfers, ...origin }
  }

  /**
   * Reads everything about a call that is over. Throws ResourceFault `call_not_ended` before, and
   * `recording_unreachable` if the bucket does not answer.
   */
  async ended(tenant: Tenant, id: string): Promise<EndedCall> {
    const stored = requireResource(await this.#deps.wholeCalls.find(tenant, id))
    const { status, recordingStatus } = stored.call
    if (!isTerminal(status)) throw new ResourceFault({ kind: 'call_not_ended' })
    const events = await this.#deps.record.events(tenant, id, 0)
    const isReady = recordingStatus === 'ready'
    const recording = isReady ? await this.#deps.recordings.find(tenant, id) : null
    const complete = {
      transcript: stored.turns.length < readMax.turns,
      events: events.length < readMax.events,
      spans: stored.spans.length < readMax.spans,
      recording: !isReady || recording !== null,
    }
    return { whole: await this.#wholeOf(tenant, stored), events, recording, complete }
  }

  list(tenant: Tenant, filter: CallFilter, limit: number, after: CallPosition | null): Promise<CallPage> {
    return this.#deps.calls.list(tenant, filter, limit, after)
  }

  overview(tenant: Tenant, query: OverviewQuery): Promise<CallOverviewPage> {
    return this.#deps.calls.overview(tenant, query)
  }

  /** Lists an agent's calls. Throws ResourceFault `not_found` if the tenant has no such agent. */
  async listOfAgent(
    tenant: Tenant,
    agentId: string,
    ...page: [limit: number, range: { beforeUs: number | null; sinceUs: number | null }]
  ): Promise<AgentCallPage> {
    requireResource(await this.#deps.agents.find(tenant, agentId))
    return this.#deps.calls.listOfAgent(tenant, agentId, ...page)
  }

  async turns(tenant: Tenant, id: string): Promise<readonly Turn[]> {
    await this.get(tenant, id)
    return this.#deps.record.turns(tenant, id, -1)
  }

  async events(tenant: Tenant, id: string): Promise<readonly StoredEvent[]> {
    await this.get(tenant, id)
    return this.#deps.record.events(tenant, id, 0)
  }

  /** `originMs` is the time to which the start times of the call's spans are relative. */
  async requests(tenant: Tenant, id: string): Promise<CallRequests & { originMs: number }> {
    const { startedAtMs, createdAtMs } = await this.get(tenant, id)
    return { ...(await this.#deps.record.requests(tenant, id)), originMs: startedAtMs ?? createdAtMs }
  }

  /** Returns the call's report. Throws ResourceFault `report_missing` if there is no report. */
  async report(tenant: Tenant, id: string): Promise<WholeReport> {
    const call = await this.get(tenant, id)
    const report = await this.#deps.reports.find(tenant, id)
    if (report === null)
      throw new ResourceFault({ kind: 'report_missing', because: call.endedAtMs === null ? 'not_ended' : 'not_joined' })
    return this.#wholeReport(tenant, call, report, await this.#deps.record.turns(tenant, id, -1))
  }

  /**
   * Opens the recording. Throws ResourceFault `recording_missing` unless the recording is ready, and
   * `recording_unreachable` if the bucket does not answer.
   */
  recording(tenant: Tenant, id: string): Promise<RecordingContent> {
    return this.#ofReady(tenant, id, () => this.#deps.recordings.find(tenant, id))
  }

  /**
   * Makes a link to the recording that works for `lifeS` seconds without a key. Throws the same faults as `recording`.
   */
  recordingLink(tenant: Tenant, id: string, lifeS: number): Promise<RecordingLink> {
    return this.#ofReady(tenant, id, () => this.#deps.recordings.link(tenant, id, lifeS))
  }

  /**
   * Returns the peaks of the recording's waveform (audio/peaks.ts). Throws the same faults as `recording`, and
   * `overloaded` while the peaks of too many recordings are computed.
   */
  recordingPeaks(tenant: Tenant, id: string): Promise<Uint8Array> {
    return this.#ofReady(tenant, id, () => this.#deps.recordings.peaks(tenant, id))
  }

  async #ofReady<T>(tenant: Tenant, id: string, read: () => Promise<T | null>): Promise<T> {
    const { recordingStatus: status } = await this.get(tenant, id)
    const result = status === 'ready' ? await read() : null
    if (result === null) throw new ResourceFault({ kind: 'recording_missing', status })
    return result
  }

  async #wholeReport(tenant: Tenant, call: Call, report: Report, turns: readonly Turn[]): Promise<WholeReport> {
    const { record, callbacks } = this.#deps
    const [attempts, legUses, callback, sent] = await Promise.all([
      record.attempts(tenant, call.id),
      record.legUses(tenant, call.id),
      callbacks.ofSession(tenant, call.id),
      this.#deps.deliveries.ofReport(tenant, call.id),
    ])
    const deliveries = summarized(sent.deliveries, sent.receivers, report.analysisStatus === 'pending')
    return { call, report, turns, costs: costsOf(attempts, legUses, call.test), callback, deliveries }
  }
}
