/** Makes the store's repositories for calls: their rows, entries, reports, commands and streams of changes. */
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
import type { Loop } from '../runtime/timing/loops.ts'
import { createCallChanges } from './calls/call-changes.ts'
import { createCallCommands } from './calls/call-commands.ts'
import { createCallRecord } from './calls/call-entries.ts'
import { createCallFigures } from './calls/call-figures.ts'
import { createReportStore } from './calls/call-reports.ts'
import { CallWebhooks } from './calls/call-webhooks.ts'
import { createCallStore } from './calls/calls.ts'
import { createWholeCallStore } from './calls/whole-calls.ts'
import type { Pools } from './postgres/connect.ts'
import { transactionEach } from './postgres/tenant.ts'
import type { RecordOptions } from './retention.ts'
import type { Sealer } from './sealing/sealed.ts'

export type CallRecords = {
  calls: CallStore
  callRecord: CallRecord
  callFigures: CallFigures
  wholeCalls: WholeCallStore
  callChanges: CallChanges
  callsChanges: CallsChanges
  reports: ReportStore
  callCommands: CallCommands
}

/**
 * The interval between two searches for sessions that no person joined in time. Such a session ends at most this much
 * too late.
 */
const expireEveryMs = 1_000

export function createCallRecords(
  { system, tenant }: Pools,
  sealer: () => Sealer,
  instanceId: string,
  { clock, log, newId: eventId, events }: Omit<RecordOptions, 'retention'>,
): { records: CallRecords; loops: readonly Loop[]; listen(): Promise<void> } {
  const worlds = transactionEach(tenant)
  const webhooks = new CallWebhooks(eventId, events)
  const calls = createCallStore({ worlds, sealer, clock, log, webhooks, eventId })
  const changes = createCallChanges(system)
  return {
    records: {
      calls,
      callRecord: createCallRecord(worlds, clock),
      callFigures: createCallFigures(worlds),
      wholeCalls: createWholeCallStore(worlds),
      callChanges: changes.ofCall,
      callsChanges: changes.ofCalls,
      reports: createReportStore({ worlds, clock, webhooks, eventId }),
      callCommands: createCallCommands({ system, worlds, clock, log, instanceId, commandId: eventId }),
    },
    loops: [{ name: 'sessions that nobody joined', everyMs: expireEveryMs, run: () => calls.expire() }],
    listen: () => changes.listen(),
  }
}
