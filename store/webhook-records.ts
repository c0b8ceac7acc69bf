/** Makes the store's repositories for call events: their delivery, the delivery log, and live streams of events. */
import type { Clock } from '../domain/ports/system.ts'
import type { PreCallDeps } from '../domain/sessions/pre-call-webhook.ts'
import type { DeliveryStore } from '../domain/webhooks/delivery-store.ts'
import type { WebhookStreamStore } from '../domain/webhooks/event-stream.ts'
import type { DeliveryQueue } from '../domain/webhooks/queue.ts'
import type { ReportDeliveryStore } from '../domain/webhooks/report-deliveries.ts'
import type { Loop } from '../runtime/timing/loops.ts'
import { preCallEndpoint } from './calls/call-webhooks.ts'
import { createReportDeliveryStore } from './calls/report-deliveries.ts'
import type { Pools } from './postgres/connect.ts'
import { transactionEach } from './postgres/tenant.ts'
import type { Retention } from './retention.ts'
import { createDeliveryStore } from './webhooks/webhook-deliveries.ts'
import { createDeliveryQueue } from './webhooks/webhook-queue.ts'
import { createWebhookStreamStore } from './webhooks/webhook-streams.ts'

export type WebhookRecords = {
  webhookQueue: DeliveryQueue
  webhookDeliveries: DeliveryStore
  reportDeliveries: ReportDeliveryStore
  preCallEndpoint: PreCallDeps['endpointOf']
  webhookStreams: WebhookStreamStore
}

const purgeEveryMs = 10_000

export function createWebhookRecords(
  { system, tenant }: Pools,
  instanceId: string,
  { clock, retention }: { clock: Clock; retention: Pick<Retention, 'deliveriesDays'> },
): { records: WebhookRecords; loops: readonly Loop[]; listen(): Promise<void> } {
  const worlds = transactionEach(tenant)
  const webhookDeliveries = createDeliveryStore({ worlds, clock, instanceId, retentionDays: retention.deliveriesDays })
  const webhookStreams = createWebhookStreamStore(system, worlds)
  return {
    records: {
      webhookQueue: createDeliveryQueue({ system, worlds, clock, instanceId }),
      webhookDeliveries,
      reportDeliveries: createReportDeliveryStore({ worlds, clock }),
      preCallEndpoint: (call) => worlds.asTenant(call, (tx) => preCallEndpoint(tx, call)),
      webhookStreams,
    },
    loops: [
      { name: 'the end of the log of webhook deliveries', everyMs: purgeEveryMs, run: () => webhookDeliveries.purge() },
    ],
    listen: () => webhookStreams.listen(),
  }
}
