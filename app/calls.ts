/** The records of calls: their reads, their reports, their recordings and the callbacks that agents promised. */

import { Callbacks, type PlaceCallback } from '../domain/callbacks/callbacks.ts'
import { createAnalyse } from '../domain/calls/analyse.ts'
import { Calls } from '../domain/calls/calls.ts'
import { createFollowCall, type FollowCall } from '../domain/calls/follow.ts'
import { Reports } from '../domain/calls/reports.ts'
import type { StoredRecordings } from '../domain/calls/stored-recordings.ts'
import type { CallRecorder } from '../domain/conversation/parts/deps.ts'
import type { Operations } from '../domain/operations.ts'
import type { Call } from '../domain/records/call.ts'
import { wasTaken } from '../domain/records/transfer.ts'
import { Loops } from '../runtime/timing/loops.ts'
import { isPhoneNumber } from '../runtime/values/phone-number.ts'
import type { App } from './app.ts'
import { watchStore } from './figures.ts'
import { openCallRecordings } from './recordings.ts'

export type CallRecords = {
  calls: Calls
  recordings: StoredRecordings
  reports: Reports
  follow: FollowCall
  /** Begins to record a call. Null if the call is not recorded. */
  record: (call: Call) => CallRecorder | null
  /**
   * From now on calls of dead processes end, and reports are made. The server must listen by then, because reports have
   * links to it.
   */
  start: () => void
}

/** A call that another process could not analyse is taken over this soon: its report is due 60 s after its end. */
const pendingEveryMs = 1_000
/** The calls of a dead process end after two looks, once its row has run out. */
const orphansEveryMs = 2_000
/** A callback that is due is made this late at most. */
const callbacksEveryMs = 1_000
const closeMs = 1_000

/** The calls to a number have its id for a key. */
const isPhoneNumberId = (keyId: string) => keyId.startsWith('pn_')

/**
 * An analysis that runs when the process ends is taken over by another one, and no more begin.
 */
export function openCallRecords(app: App, operations: Operations): CallRecords {
  const { clock, log, store } = app
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
    recordings: recordings.stored,
    reports,
    follow: createFollowCall({ calls: store.calls, record, changes, clock }),
    record: recordings.record,
    start() {
      const endOrphans = () => store.calls.endOrphans(recordings.salvage)
      loops.start({ name: 'calls of dead processes', everyMs: orphansEveryMs, run: endOrphans })
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
    isTransferred: async (call) => wasTaken(await store.transfers.list(call, call.id)),
    callbackOf: async (call) => (await store.callbacks.ofSession(call, call.id))?.callback ?? null,
    isPhoneNumber,
    callbackId: ids.callback,
    clock,
    ids,
    log,
    traces: tracing,
  })
}

/** Callbacks that are due are placed once `start` was called. */
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
