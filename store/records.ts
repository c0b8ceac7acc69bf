/** The part of the store that knows calls: their rows, what happened in them, and their reports. */
import type { CallbackStore } from '../domain/callbacks/store.ts'
import type { CallCommands } from '../domain/calls/commands.ts'
import type { UploadStore } from '../domain/calls/recording-uploads.ts'
import type { CallChanges, CallRecord, CallStore, ReportStore } from '../domain/calls/store.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { DeliveryStore } from '../domain/webhooks/delivery-store.ts'
import type { WebhookStreamStore } from '../domain/webhooks/event-stream.ts'
import type { PreCallDeps } from '../domain/webhooks/pre-call.ts'
import type { DeliveryQueue } from '../domain/webhooks/queue.ts'
import type { ReportDeliveryStore } from '../domain/webhooks/report-deliveries.ts'
import { systemIds } from '../runtime/clock.ts'
import type { Loop } from '../runtime/loops.ts'
import { createCallChanges } from './call-changes.ts'
import { createCallCommands } from './call-commands.ts'
import { createCallRecord } from './call-entries.ts'
import { createReportStore } from './call-reports.ts'
import { CallWebhooks, preCallEndpoint } from './call-webhooks.ts'
import { createCallbackStore } from './callbacks.ts'
import { createCallStore } from './calls.ts'
import type { Pools } from './connect.ts'
import { createUploadStore } from './recording-uploads.ts'
import { createReportDeliveryStore } from './report-deliveries.ts'
import type { Sealer } from './sealed.ts'
import { transactionEach } from './tenant.ts'
import { createDeliveryStore } from './webhook-deliveries.ts'
import { createDeliveryQueue } from './webhook-queue.ts'
import { createWebhookStreamStore } from './webhook-streams.ts'

export type Records = {
  calls: CallStore
  callRecord: CallRecord
  callChanges: CallChanges
  reports: ReportStore
  callCommands: CallCommands
  callbacks: CallbackStore
  recordingUploads: UploadStore
  webhookQueue: DeliveryQueue
  webhookDeliveries: DeliveryStore
  /** `serve` says how events of calls are written. */
  callWebhooks: Pick<CallWebhooks, 'serve'>
  reportDeliveries: ReportDeliveryStore
  preCallEndpoint: PreCallDeps['endpointOf']
  webhookStreams: WebhookStreamStore
}

export type RecordParts = { records: Records; loops: readonly Loop[]; listen(): Promise<void> }

/** A session that nobody joins ends this late at most. */
const expireEveryMs = 1_000
const purgeEveryMs = 10_000

export function createRecords(
  { system, tenant }: Pools,
  sealer: () => Sealer,
  instanceId: string,
  { clock, log }: { clock: Clock; log: Log },
): RecordParts {
  const worlds = transactionEach(tenant)
  const eventId = systemIds.session
  const webhooks = new CallWebhooks(eventId)
  const calls = createCallStore({ worlds, sealer, clock, log, webhooks, eventId })
  const changes = createCallChanges(system)
  const webhookDeliveries = createDeliveryStore({ worlds, clock, instanceId })
  const loops: Loop[] = [
    { name: 'sessions that nobody joined', everyMs: expireEveryMs, run: () => calls.expire() },
    { name: 'the end of the log of webhook deliveries', everyMs: purgeEveryMs, run: () => webhookDeliveries.purge() },
  ]
  const webhookStreams = createWebhookStreamStore(system, worlds)
  return {
    records: {
      calls,
      callRecord: createCallRecord(worlds),
      callChanges: changes,
      reports: createReportStore({ worlds, clock, webhooks, eventId }),
      callbacks: createCallbackStore({ worlds, clock, eventId }),
      callCommands: createCallCommands({ system, worlds, clock, log, instanceId, commandId: eventId }),
      recordingUploads: createUploadStore({ worlds, clock, instanceId }),
      webhookQueue: createDeliveryQueue({ system, worlds, clock, instanceId }),
      webhookDeliveries,
      callWebhooks: webhooks,
      reportDeliveries: createReportDeliveryStore({ worlds, clock }),
      preCallEndpoint: (call) => worlds.asTenant(call, (tx) => preCallEndpoint(tx, call)),
      webhookStreams,
    },
    loops,
    listen: async () => {
      await changes.listen()
      await webhookStreams.listen()
    },
  }
}
