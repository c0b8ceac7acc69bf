/**
 * Analyses calls that have ended, each by one process at a time, and rewrites their reports when that is asked for.
 */
import type { Tenant } from '../access/organization.ts'
import type { Clock, Log } from '../ports/system.ts'
import { ResourceFault } from '../resource-fault.ts'
import type { ReportDeliveryStore } from '../webhooks/report-deliveries.ts'
import type { Analyse } from './analyse.ts'
import type { Calls, WholeReport } from './calls.ts'
import { isTerminal } from './states.ts'
import type { CallChanges, CallRecord, CallStore, ReportStore } from './store.ts'

export type ReportsDeps = {
  calls: Pick<CallStore, 'find'>
  record: Pick<CallRecord, 'turns'>
  reports: ReportStore
  changes: CallChanges
  whole: Pick<Calls, 'report'>
  analyse: Analyse
  deliveries: Pick<ReportDeliveryStore, 'retryReport'>
  clock: Clock
  log: Log
}

/** `isForced`: also a call that an LLM has read. `retriesWebhook`: the report is sent again where it could not be delivered. */
export type Finalize = { isForced: boolean; retriesWebhook: boolean }

/** An LLM must have answered this soon after the end of the call, because the report is sent within 60 s of it. */
const firstMs = 55_000
/** The time for an analysis that was asked for. */
const askedMs = 60_000
/** Another process takes over this long after the time for an answer. */
const claimMs = 2_000
const finalizeMs = 20_000
/** Analyses that one process runs at a time. */
const runningMax = 4
/** Looked at in one go. */
const pendingMax = 100

export class Reports {
  readonly #deps: ReportsDeps
  readonly #running = new Map<string, Promise<void>>()

  constructor(deps: ReportsDeps) {
    this.#deps = deps
  }

  /** Waits up to 20 s, and answers what stands then. Throws ResourceFault `call_not_ended`, `report_missing` and `not_found`. */
  async finalize(tenant: Tenant, id: string, { isForced, retriesWebhook }: Finalize): Promise<WholeReport> {
    const { calls, whole, deliveries } = this.#deps
    const call = await calls.find(tenant, id)
    if (call === null) throw new ResourceFault({ kind: 'not_found' })
    if (!isTerminal(call.status)) throw new ResourceFault({ kind: 'call_not_ended' })
    const { report } = await whole.report(tenant, id)
    // A call that was not connected has nothing to read.
    const isDone = call.startedAtMs === null || (report.analysisStatus === 'completed' && !isForced)
    if (!isDone) await this.#within(finalizeMs, this.analyse(tenant, id, isForced))
    if (retriesWebhook) await deliveries.retryReport(tenant, id)
    return whole.report(tenant, id)
  }

  /** Analyses the calls that are waiting for it, in all organizations. Those that are late are asked of no LLM, and wait for nothing. */
  async analysePending(): Promise<void> {
    const { reports, clock } = this.#deps
    for (const { callId, madeAtMs, ...tenant } of await reports.pending(pendingMax))
      if (madeAtMs + firstMs <= clock.nowMs()) this.#analyseLogged(tenant, callId)
      else this.begin(tenant, callId)
  }

  /** Analyses in the background. One that finds no place waits for the next look at what is pending. */
  begin(tenant: Tenant, id: string): void {
    if (this.#running.size < runningMax) this.#analyseLogged(tenant, id)
  }

  #analyseLogged(tenant: Tenant, id: string): void {
    this.analyse(tenant, id, false).catch((err: unknown) => {
      this.#deps.log.warn({ err, callId: id }, 'the analysis of a call is put off')
    })
  }

  /** Only one at a time a call: a second caller waits for the same. */
  analyse(tenant: Tenant, id: string, isForced: boolean): Promise<void> {
    const running = this.#running.get(id)
    if (running) return running
    const analysis = this.#run(tenant, id, isForced).finally(() => this.#running.delete(id))
    this.#running.set(id, analysis)
    return analysis
  }

  async #run(tenant: Tenant, id: string, isForced: boolean): Promise<void> {
    const { calls, record, reports, clock, analyse } = this.#deps
    const before = await reports.find(tenant, id)
    if (before === null) return
    const isFirst = before.analysisStatus === 'pending'
    const untilMs = isFirst ? before.createdAtMs + firstMs : clock.nowMs() + askedMs
    if (!(await reports.claim(tenant, id, Math.max(untilMs, clock.nowMs()) + claimMs))) return this.#changed(id)
    const call = await calls.find(tenant, id)
    if (call === null) return
    const [turns, endpoints] = await Promise.all([record.turns(tenant, id, -1), reports.endpointFields(tenant, id)])
    const analysis = await analyse(call, turns, endpoints, { untilMs, isFirst })
    const isSame = before.analysisStatus === 'heuristic' && analysis.status === 'heuristic' && !isForced
    await reports.complete(tenant, id, isSame ? null : analysis, isFirst)
  }

  /** Another process has claimed the call: its analysis changes the call. */
  #changed(id: string): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        stop()
        cancel()
        resolve()
      }
      const stop = this.#deps.changes.watch(id, done)
      const cancel = this.#deps.clock.after(finalizeMs, done)
    })
  }

  async #within(delayMs: number, work: Promise<void>): Promise<void> {
    let cancel = () => {}
    const late = new Promise<void>((resolve) => {
      cancel = this.#deps.clock.after(delayMs, resolve)
    })
    try {
      await Promise.race([work, late])
    } finally {
      cancel()
    }
  }
}
