/** Analyses ended calls, each call in only one process at a time, and repeats an analysis on request. */
import type { Clock, Log } from '../ports/system.ts'
import type { Tenant } from '../records/organization.ts'
import { ResourceFault } from '../records/resource-fault.ts'
import { isTerminal } from '../records/states/call.ts'
import type { ReportDeliveryStore } from '../webhooks/report-deliveries.ts'
import type { Analyse } from './analyse.ts'
import type { Calls, WholeReport } from './calls.ts'
import type { Report } from './report.ts'
import type { CallChanges, CallRecord, CallStore, ReportClaim, ReportStore } from './store.ts'

export type ReportsDeps = {
  calls: Pick<CallStore, 'find'>
  record: Pick<CallRecord, 'turns'>
  reports: ReportStore
  changes: CallChanges
  whole: Pick<Calls, 'report'>
  analyse: Analyse
  deliveries: Pick<ReportDeliveryStore, 'retryReport'>
  /** Resolves when the costs of all requests finished in this process are stored. */
  settled: () => Promise<void>
  clock: Clock
  log: Log
}

/**
 * If `isForced`, a call is analysed again even if an LLM has analysed it already. If `retriesWebhook`, an undelivered
 * report is sent again.
 */
export type Finalize = { isForced: boolean; retriesWebhook: boolean }

/** The first analysis must end at most this long after the call's end, because the report is due within 60 s. */
const firstMs = 55_000
/** The time limit for an analysis on request. */
const laterMs = 60_000
/** If an analysis has not ended this long after its time limit, another process may repeat it. */
const claimMs = 2_000
const finalizeMs = 20_000
/**
 * An analysis waits for the call's costs until the report is due, but within these bounds. Costs are stored within 50
 * ms after a request unless the database is unreachable.
 */
const settledMs = { least: 1_000, most: 10_000 }
/** The maximum number of concurrent analyses in one process. */
const runningMax = 4
/** The maximum number of pending reports in one read. */
const pendingMax = 100

type Claimed = Extract<ReportClaim, { state: 'claimed' }>

/**
 * Decides which reports need an analysis. `pending`: only a pending report. `missing`: any report without an LLM's
 * analysis. `forced`: every report.
 */
type Why = 'pending' | 'missing' | 'forced'

function needsAnalysis({ analysisStatus }: Report, why: Why): boolean {
  if (why === 'pending') return analysisStatus === 'pending'
  return why === 'forced' || analysisStatus !== 'completed'
}

export class Reports {
  readonly #deps: ReportsDeps
  readonly #running = new Map<string, Promise<void>>()

  constructor(deps: ReportsDeps) {
    this.#deps = deps
  }

  /**
   * Waits up to 20 s for the analysis, then returns the current report. Throws ResourceFault `call_not_ended`,
   * `report_missing` and `not_found`.
   */
  async finalize(tenant: Tenant, id: string, { isForced, retriesWebhook }: Finalize): Promise<WholeReport> {
    const { calls, whole, deliveries } = this.#deps
    const call = await calls.find(tenant, id)
    if (call === null) throw new ResourceFault({ kind: 'not_found' })
    if (!isTerminal(call.status)) throw new ResourceFault({ kind: 'call_not_ended' })
    const { report } = await whole.report(tenant, id)
    // If a call was not connected, it contains nothing to analyse.
    const isDone = call.startedAtMs === null || !needsAnalysis(report, isForced ? 'forced' : 'missing')
    if (!isDone) await this.#within(finalizeMs, this.analyse(tenant, id, isForced ? 'forced' : 'missing'))
    if (retriesWebhook) await deliveries.retryReport(tenant, id)
    return whole.report(tenant, id)
  }

  /**
   * Analyses all organizations' waiting calls. If a call's time for an LLM's answer is over, its findings come from
   * rules, so it is analysed at once even if `runningMax` analyses run.
   */
  async analysePending(): Promise<void> {
    const { reports, clock } = this.#deps
    for (const { callId, madeAtMs, ...tenant } of await reports.pending(pendingMax))
      if (madeAtMs + firstMs <= clock.nowMs()) this.#analyseLogged(tenant, callId)
      else this.begin(tenant, callId)
  }

  /** Analyses in the background. If `runningMax` analyses run already, the call waits for the next `analysePending`. */
  begin(tenant: Tenant, id: string): void {
    if (this.#running.size < runningMax) this.#analyseLogged(tenant, id)
  }

  #analyseLogged(tenant: Tenant, id: string): void {
    this.analyse(tenant, id, 'pending').catch((err: unknown) => {
      this.#deps.log.warn({ err, callId: id }, 'the analysis of a call is put off')
    })
  }

  /** Runs one analysis per call at a time. If the call's analysis runs already, this waits for it. */
  analyse(tenant: Tenant, id: string, why: Why): Promise<void> {
    const running = this.#running.get(id)
    if (running) return running
    const analysis = this.#run(tenant, id, why).finally(() => this.#running.delete(id))
    this.#running.set(id, analysis)
    return analysis
  }

  async #run(tenant: Tenant, id: string, why: Why): Promise<void> {
    const { reports, clock } = this.#deps
    // The watch begins before the claim, because another process may complete the report at any moment.
    const change = this.#changeOf(id)
    try {
      const claim = await reports.claim(tenant, id, (report) =>
        needsAnalysis(report, why) ? Math.max(this.#untilMs(report), clock.nowMs()) + claimMs : null,
      )
      if (claim.state === 'taken') await this.#within(finalizeMs, change.happens)
      if (claim.state === 'claimed') await this.#analyseClaimed(tenant, id, claim, why === 'forced')
    } finally {
      change.cancel()
    }
  }

  async #analyseClaimed(tenant: Tenant, id: string, { report, endpoints }: Claimed, isForced: boolean): Promise<void> {
    const { calls, record, reports, analyse } = this.#deps
    const isFirst = report.analysisStatus === 'pending'
    const untilMs = this.#untilMs(report)
    const [call, turns] = await Promise.all([calls.find(tenant, id), record.turns(tenant, id, -1)])
    if (call === null) return
    const analysis = await analyse(call, turns, endpoints, { untilMs, isFirst })
    await this.#settled(untilMs)
    const isSame = report.analysisStatus === 'heuristic' && analysis.status === 'heuristic' && !isForced
    await reports.complete(tenant, id, isSame ? null : analysis, isFirst)
  }

  #untilMs({ analysisStatus, createdAtMs }: Report): number {
    return analysisStatus === 'pending' ? createdAtMs + firstMs : this.#deps.clock.nowMs() + laterMs
  }

  /**
   * Waits for the call's costs. The first `call.report` event is sent only once, so its report must contain all costs.
   * A report already due waits only `settledMs.least`.
   */
  #settled(untilMs: number): Promise<void> {
    const leftMs = untilMs - this.#deps.clock.nowMs()
    return this.#within(Math.min(Math.max(leftMs, settledMs.least), settledMs.most), this.#deps.settled())
  }

  #changeOf(id: string): { happens: Promise<void>; cancel: () => void } {
    let cancel = () => {}
    const happens = new Promise<void>((resolve) => {
      cancel = this.#deps.changes.watch(id, resolve)
    })
    return { happens, cancel }
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
