/** Opens call records and callbacks. A callback is a call that an agent has promised to make later. */

import { Callbacks, type PlaceCallback } from '../domain/callbacks/callbacks.ts'
import { createAnalyse } from '../domain/calls/analyse.ts'
import { Calls } from '../domain/calls/calls.ts'
import type { CallFigures } from '../domain/calls/figures.ts'
import { createFollowCall, type FollowCall } from '../domain/calls/follow.ts'
import { createFollowCalls, type FollowCalls } from '../domain/calls/follow-calls.ts'
import { Reports } from '../domain/calls/reports.ts'
import type { StoredRecordings } from '../domain/calls/stored-recordings.ts'
import type { CallRecorder } from '../domain/conversation/parts/deps.ts'
import type { Operations } from '../domain/operations.ts'
import type { Clock } from '../domain/ports/system.ts'
import type { Call } from '../domain/records/call.ts'
import { hasCompletedAttempt } from '../domain/records/transfer.ts'
import { Capacity } from '../runtime/shares/capacity.ts'
import { Loops } from '../runtime/timing/loops.ts'
import { isPhoneNumber } from '../runtime/values/phone-number.ts'
import type { App } from './app.ts'
import { watchStore } from './figures.ts'
import { openCallRecordings } from './recordings.ts'

export type CallRecords = {
  calls: Calls
  figures: CallFigures
  clock: Clock
  bundles: Capacity
  recordings: StoredRecordings
  reports: Reports
  follow: FollowCall
  followCalls: FollowCalls
  /** Begins a call's audio recording. Null if the call is not recorded. */
  record: (call: Call) => CallRecorder | null
  /**
   * Starts the background work: it ends dead processes' calls and makes call reports. The server must listen first,
   * because reports contain links to it.
   */
  start: () => void
}

/**
 * The interval for taking over call analyses that another process did not finish. A call's report is due 60 s after the
 * call's end.
 */
const pendingEveryMs = 1_000
/**
 * The interval for finding calls of dead processes. Such a call ends at the second check after the process's database
 * row has expired.
 */
const orphansEveryMs = 2_000
/** The interval for summing the costs of calls that are over. */
const factsEveryMs = 1_000
/** The interval for placing due callbacks: a callback is placed at most this long after its time. */
const callbacksEveryMs = 1_000
const closeMs = 1_000

/** True for the key id of an inbound phone call: it is the called number's id instead of an API key's id. */
const isPhoneNumberId = (keyId: string) => keyId.startsWith('pn_')

/**
 * Opens the call records. When the process ends, no new analysis begins. Another process takes over a running analysis.
 */
export function openCallRecords(app: App, operations: Operations): CallRecords {
  const { clock, config, log, owners, store } = app
  const { organizationShare: part, callBundlesMax } = config.limits
  const { agents, callRecord: record, callChanges: changes } = store
  const loops = new Loops(clock, log)
  const recordings = openCallRecordings(app, loops)
  app.closing(() => loops.stop(closeMs))
  watchStore(app, loops)
  const calls = new Calls({
    agents,
    calls: store.calls,
    record,
    reports: store.reports,
    recordings: recordings.stored,
    callbacks: store.callbacks,
    wholeCalls: store.wholeCalls,
    deliveries: store.reportDeliveries,
    clock,
  })
  const reports = new Reports({
    calls: store.calls,
    record,
    reports: store.reports,
    changes,
    whole: calls,
    analyse: analyseOf(app, operations),
    deliveries: store.reportDeliveries,
    settled: () => store.ledger.drain(),
    clock,
    log,
  })
  return {
    calls,
    figures: store.callFigures,
    clock,
    bundles: new Capacity({ max: callBundlesMax, part }, owners),
    recordings: recordings.stored,
    reports,
    followCalls: createFollowCalls({ calls: store.calls, changes: store.callsChanges, clock }),
    follow: createFollowCall({ calls: store.calls, record, changes, clock }),
    record: recordings.record,
    start() {
      const endOrphans = () => store.calls.endOrphans(recordings.salvage)
      loops.start({ name: 'calls of dead processes', everyMs: orphansEveryMs, run: endOrphans })
      loops.start({ name: 'facts about calls', everyMs: factsEveryMs, run: () => store.calls.completeFacts() })
      loops.start({ name: 'reports of calls', everyMs: pendingEveryMs, run: () => reports.analysePending() })
    },
  }
}

function analyseOf({ store, clock, ids, log, tracing }: App, operations: Operations) {
  return createAnalyse({
    chooser: operations.dispatch.chooser,
    generate: operations.generateItems,
    callerOf: (tenant, keyId) =>
      isPhoneNumberId(keyId) ? store.numberCallers.find(tenant, keyId) : store.keys.find(tenant.organizationId, keyId),
    isTransferred: async (call) => hasCompletedAttempt(await store.transfers.list(call, call.id)),
    callbackOf: async (call) => (await store.callbacks.ofSession(call, call.id))?.callback ?? null,
    isPhoneNumber,
    callbackId: ids.callback,
    clock,
    ids,
    log,
    traces: tracing,
  })
}

/** Opens the callbacks. Due callbacks are placed after `start`. */
export function openCallbacks(app: App, place: PlaceCallback): { callbacks: Callbacks; start: () => void } {
  const { store, clock, ids, log } = app
  const loops = new Loops(clock, log)
  app.closing(() => loops.stop(closeMs))
  const callbacks = new Callbacks({ store: store.callbacks, place, clock, log, leaseId: ids.session })
  return {
    callbacks,
    start: () => loops.start({ name: 'callbacks', everyMs: callbacksEveryMs, run: () => callbacks.dispatchDue() }),
  }
}
