/**
 * Analyses calls that have ended, each by one process at a time, and rewrites their reports when that is asked for.
 */
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
  /** Resolves when the costs of all requests of this process that are over are stored. */
  settled: () => Promise<void>
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
/** The costs of the call are waited for, unless the report is due. They are stored within 50 ms of a request, where the database is not away. */
const settledMs = { least: 1_000, most: 10_000 }
/** Analyses that one process runs at a time. */
const runningMax = 4
/** Looked at in one go. */
const pendingMax = 100

type Claimed = Extract<ReportClaim, { state: 'claimed' }>

/** Whether a call is analysed: where none has begun, where no LLM has read it, or in any case. */
type Why = 'pending' | 'missing' | 'forced'

function isWanted({ analysisStatus }: Report, why: Why): boolean {
  if (why === 'pending') return analysisStatus === 'pending'
  return why === 'forced' || analysisStatus !== 'completed'
}

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
    const isDone = call.startedAtMs === null || !isWanted(report, isForced ? 'forced' : 'missing')
    if (!isDone) await this.#within(finalizeMs, this.analyse(tenant, id, isForced ? 'forced' : 'missing'))
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
    this.analyse(tenant, id, 'pending').catch((err: unknown) => {
      this.#deps.log.warn({ err, callId: id }, 'the analysis of a call is put off')
    })
  }

  /** Only one at a time a call: a second caller waits for the same. */
  analyse(tenant: Tenant, id: string, why: Why): Promise<void> {
    const running = this.#running.get(id)
    if (running) return running
    const analysis = this.#run(tenant, id, why).finally(() => this.#running.delete(id))
    this.#running.set(id, analysis)
    return analysis
  }

  async #run(tenant: Tenant, id: string, why: Why): Promise<void> {
    const { reports, clock } = this.#deps
    // Another process may complete the report at any moment from now on.
    const change = this.#changeOf(id)
    try {
      const claim = await reports.claim(tenant, id, (report) =>
        isWanted(report, why) ? Math.max(this.#untilMs(report), clock.nowMs()) + claimMs : null,
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
    return analysisStatus === 'pending' ? createdAtMs + firstMs : this.#deps.clock.nowMs() + askedMs
  }

  /** The report has the costs of all requests of the call, and its first version is sent once. A report that is due does not wait for them. */
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
