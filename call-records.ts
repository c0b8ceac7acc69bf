/** Joins the records of calls: their reads, their reports and their recordings. */
import { openCallRecordings } from './call-recordings.ts'
import { Callbacks, type PlaceCallback } from './domain/callbacks/callbacks.ts'
import { createAnalyse } from './domain/calls/analyse.ts'
import type { Call } from './domain/calls/call.ts'
import { Calls } from './domain/calls/calls.ts'
import { createFollowCall, type FollowCall } from './domain/calls/follow.ts'
import { Reports } from './domain/calls/reports.ts'
import { StoredRecordings } from './domain/calls/stored-recordings.ts'
import type { CallRecorder } from './domain/conversation/deps.ts'
import type { Operations } from './domain/operations.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { eventPayloads } from './handlers/platform/event-payloads.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import { Loops } from './runtime/loops.ts'
import { isPhoneNumber } from './runtime/phone-number.ts'
import type { Tracing } from './runtime/tracing.ts'
import type { Store } from './store/store.ts'
import { type StoreMetrics, watchStore } from './store-figures.ts'

export type RecordParts = {
  config: ParleyConfig
  store: Store
  operations: Operations
  /** Signs links to recordings. */
  masterKey: string
  log: ReturnType<typeof createLog>
  metrics: StoreMetrics
  /** Null: no spans are wanted. */
  tracing: Tracing | null
}

export type CallRecords = {
  calls: Calls
  recordings: StoredRecordings
  callbacks: Callbacks
  reports: Reports
  follow: FollowCall
  /** Begins to record a call. Null: it is not recorded. */
  record: (call: Call) => CallRecorder | null
  /** The server is reached at this address, where no other one is set. From now on calls of dead processes end, and reports are made: they have links to it. */
  listening: (url: string) => void
  /** Places the calls of callbacks from now on. */
  serve: (place: PlaceCallback) => void
  /** Begins no more analyses. Those that run are taken over by another process if this one ends first. */
  close(): Promise<void>
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

export async function createCallRecords({
  config,
  store,
  operations,
  masterKey,
  log,
  metrics,
  tracing,
}: RecordParts): Promise<CallRecords> {
  const { agents, callRecord: record, callChanges: changes } = store
  const clock = systemClock
  const loops = new Loops(clock, log)
  watchStore({ store, metrics, loops })
  const recordings = await openCallRecordings({ config, store, masterKey, log, loops })
  store.callWebhooks.serve({ payloads: eventPayloads, recordingUrl: recordings.urlOf })
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
  const analyse = analyseOf({ store, operations, log, tracing })
  const reports = new Reports({
    calls: store.calls,
    record,
    reports: store.reports,
    changes,
    whole: calls,
    analyse,
    deliveries: store.reportDeliveries,
    settled: () => store.ledger.drain(),
    clock,
    log,
  })
  const { callbacks, serve } = openCallbacks(store, log)
  return {
    calls,
    recordings: recordings.stored,
    callbacks,
    reports,
    follow: createFollowCall({ calls: store.calls, record, changes, clock }),
    record: recordings.record,
    serve,
    listening(url) {
      recordings.listening(url)
      const endOrphans = () => store.calls.endOrphans(recordings.salvage)
      loops.start({ name: 'calls of dead processes', everyMs: orphansEveryMs, run: endOrphans })
      loops.start({ name: 'reports of calls', everyMs: pendingEveryMs, run: () => reports.analysePending() })
      loops.start({ name: 'callbacks', everyMs: callbacksEveryMs, run: () => callbacks.dispatchDue() })
    },
    async close() {
      await loops.stop(closeMs)
      await recordings.close()
    },
  }
}

function analyseOf({ store, operations, log, tracing }: Pick<RecordParts, 'store' | 'operations' | 'log' | 'tracing'>) {
  return createAnalyse({
    chooser: operations.dispatch.chooser,
    generate: operations.generateItems,
    callerOf: (tenant, keyId) =>
      isPhoneNumberId(keyId) ? store.numberCallers.find(tenant, keyId) : store.keys.find(tenant.organizationId, keyId),
    callbackOf: async (call) => (await store.callbacks.ofSession(call, call.id))?.callback ?? null,
    isPhoneNumber,
    callbackId: systemIds.callback,
    clock: systemClock,
    ids: systemIds,
    log,
    traces: tracing,
  })
}

/** Until phones are served no call can be placed. */
function openCallbacks(store: Store, log: RecordParts['log']): Pick<CallRecords, 'callbacks' | 'serve'> {
  let place: PlaceCallback = () => Promise.resolve({ failure: 'carrier_error' })
  const callbacks = new Callbacks({
    store: store.callbacks,
    place: (callback) => place(callback),
    clock: systemClock,
    log,
    leaseId: systemIds.session,
  })
  return {
    callbacks,
    serve(placing) {
      place = placing
    },
  }
}
