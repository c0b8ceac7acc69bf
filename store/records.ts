/** Makes the store's repositories for calls: their rows, events and reports. */
import type { CallbackStore } from '../domain/callbacks/store.ts'
import type { CallFigures } from '../domain/calls/figures.ts'
import type { CallCommands } from '../domain/calls/live/commands.ts'
import type {
  CallChanges,
  CallRecord,
  CallStore,
  CallsChanges,
  ReportStore,
  WholeCallStore,
} from '../domain/calls/store.ts'
import type { TransferStore } from '../domain/records/transfer.ts'
import type { Loop } from '../runtime/timing/loops.ts'
import { createCallChanges } from './calls/call-changes.ts'
import { createCallCommands } from './calls/call-commands.ts'
import { createCallRecord } from './calls/call-entries.ts'
import { createCallFigures } from './calls/call-figures.ts'
import { createLegStore, type StoredLegs } from './calls/call-legs.ts'
import { createReportStore } from './calls/call-reports.ts'
import { CallWebhooks } from './calls/call-webhooks.ts'
import { createCallbackStore } from './calls/callbacks.ts'
import { createCallStore } from './calls/calls.ts'
import { createLegCharges } from './calls/leg-charges.ts'
import { createTransferStore } from './calls/transfers.ts'
import { createWholeCallStore } from './calls/whole-calls.ts'
import { createNumberRecords, type NumberRecords } from './number-records.ts'
import type { Pools } from './postgres/connect.ts'
import { transactionEach } from './postgres/tenant.ts'
import { createRecordingRecords, type RecordingRecords } from './recordings/recording-records.ts'
import type { RecordOptions } from './retention.ts'
import type { Sealer } from './sealing/sealed.ts'
import { createWebhookRecords, type WebhookRecords } from './webhook-records.ts'

export type Records = WebhookRecords &
  NumberRecords &
  RecordingRecords & {
    calls: CallStore
    callRecord: CallRecord
    callFigures: CallFigures
    wholeCalls: WholeCallStore
    legs: StoredLegs
    legCharges: ReturnType<typeof createLegCharges>
    transfers: TransferStore
    callChanges: CallChanges
    callsChanges: CallsChanges
    reports: ReportStore
    callCommands: CallCommands
    callbacks: CallbackStore
  }

export type RecordParts = { records: Records; loops: readonly Loop[]; listen(): Promise<void> }

/**
 * The interval between two searches for sessions that no person joined in time. Such a session ends at most this much
 * too late.
 */
const expireEveryMs = 1_000

export function createRecords(
  pools: Pools,
  sealer: () => Sealer,
  instanceId: string,
  { clock, log, retention, newId: eventId, events }: RecordOptions,
): RecordParts {
  const { system, tenant } = pools
  const worlds = transactionEach(tenant)
  const webhooks = new CallWebhooks(eventId, events)
  const calls = createCallStore({ worlds, sealer, clock, log, webhooks, eventId })
  const changes = createCallChanges(system)
  const ofWebhooks = createWebhookRecords(pools, instanceId, { clock, retention })
  const loops: Loop[] = [
    { name: 'sessions that nobody joined', everyMs: expireEveryMs, run: () => calls.expire() },
    ...ofWebhooks.loops,
  ]
  return {
    records: {
      ...ofWebhooks.records,
      calls,
      callRecord: createCallRecord(worlds, clock),
      callFigures: createCallFigures(worlds),
      wholeCalls: createWholeCallStore(worlds),
      legs: createLegStore({ worlds, clock }),
      legCharges: createLegCharges(worlds, clock),
      ...createNumberRecords(worlds, sealer, clock),
      transfers: createTransferStore(worlds),
      callChanges: changes.ofCall,
      callsChanges: changes.ofCalls,
      reports: createReportStore({ worlds, clock, webhooks, eventId }),
      callbacks: createCallbackStore({ worlds, clock, eventId }),
      callCommands: createCallCommands({ system, worlds, clock, log, instanceId, commandId: eventId }),
      ...createRecordingRecords({ worlds, clock, instanceId }),
    },
    loops,
    listen: async () => {
      await changes.listen()
      await ofWebhooks.listen()
    },
  }
}
