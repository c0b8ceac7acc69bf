/** Sends the events of calls to the endpoints of organizations, and keeps the log of it. */
import { Deliveries } from './domain/webhooks/deliveries.ts'
import { Dispatcher } from './domain/webhooks/dispatcher.ts'
import { createStreamWebhookEvents, type StreamWebhookEvents } from './domain/webhooks/event-stream.ts'
import { createTryEndpoint, type TryEndpoint } from './domain/webhooks/try-endpoint.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { eventPayloads } from './handlers/platform/event-payloads.ts'
import { preCallAnswers } from './handlers/platform/pre-call-answers.ts'
import { createWebhookClient } from './providers/wire/webhook-client.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import { Loops } from './runtime/loops.ts'
import type { createMetrics } from './runtime/metrics.ts'
import { createDeadlines } from './runtime/outbound/deadlines.ts'
import type { Tracing } from './runtime/tracing.ts'
import type { Store } from './store/store.ts'

export type DeliveryParts = {
  config: ParleyConfig
  store: Store
  log: ReturnType<typeof createLog>
  metrics: ReturnType<typeof createMetrics>
  /** Null: no spans are wanted. */
  tracing: Tracing | null
}

export type WebhookDeliveries = {
  deliveries: Deliveries
  stream: StreamWebhookEvents
  tryEndpoint: TryEndpoint
  /** Begins no more attempts, and waits a moment for those under way. Another process takes over the rest. */
  close(): Promise<void>
}

/** A delivery that no notification named is sent this late at most. */
const pollEveryMs = 1_000
const closeMs = 5_000
/** Counts all deliveries that are not over, so it is rarer than the poll. */
const measureEveryMs = 15_000
/** Redeliveries of an organization come on top of the attempts of the schedule. */
const requestedMax = 8
/** Addresses whose connections are kept. */
const addressesMax = 512

/** Resolves when notifications are received. */
export async function openDeliveries({
  config,
  store,
  log,
  metrics,
  tracing,
}: DeliveryParts): Promise<WebhookDeliveries> {
  const { inFlightMax, endpointInFlightMax } = config.webhooks
  const client = createWebhookClient({
    guard: { allowedSubnets: config.outbound.allowedSubnets },
    monotonicMs: () => systemClock.monotonicMs(),
    connectionsMax: endpointInFlightMax + requestedMax,
    addressesMax,
  })
  const shared = {
    client,
    clock: systemClock,
    deadline: createDeadlines(systemClock),
    attemptId: systemIds.session,
    queue: store.webhookQueue,
    targets: store.webhookTargets,
    metrics,
    traces: tracing,
  }
  const dispatcher = new Dispatcher({
    ...shared,
    log,
    random: Math.random,
    limits: { max: inFlightMax, endpointMax: endpointInFlightMax },
  })
  const deliveries = new Deliveries({ ...shared, store: store.webhookDeliveries, requestedMax })
  const tryEndpoint = createTryEndpoint({
    ...shared,
    store: store.webhookDeliveries,
    endpoints: store.webhookEndpoints,
    payloads: eventPayloads,
    answers: preCallAnswers,
    id: systemIds.session,
  })
  const loops = new Loops(systemClock, log)
  loops.start({ name: 'deliveries of webhooks', everyMs: pollEveryMs, run: () => dispatcher.poll() })
  const measure = async () => {
    const { open, oldestDueMs } = await store.webhookQueue.backlog()
    metrics.webhookBacklog(open, oldestDueMs)
  }
  loops.start({ name: 'the backlog of webhooks', everyMs: measureEveryMs, run: measure })
  await store.webhookQueue.listen((endpoints) => dispatcher.wake(endpoints))
  // Deliveries became due while no process ran. A failure is repaired by the loop.
  void dispatcher.poll().catch(() => {})
  return {
    deliveries,
    stream: createStreamWebhookEvents({ store: store.webhookStreams, clock: systemClock }),
    tryEndpoint,
    async close() {
      await loops.stop(closeMs)
      await dispatcher.stop(closeMs)
      await client.close()
    },
  }
}
