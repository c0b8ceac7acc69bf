/** Sends the events of calls to the endpoints of organizations, asks endpoints before a call, and keeps the log of it. */
import type { PreCall } from '../domain/sessions/pre-call.ts'
import { createPreCall } from '../domain/sessions/pre-call-webhook.ts'
import { Deliveries } from '../domain/webhooks/deliveries.ts'
import { Dispatcher } from '../domain/webhooks/dispatcher.ts'
import { createStreamWebhookEvents, type StreamWebhookEvents } from '../domain/webhooks/event-stream.ts'
import { createTryEndpoint, type TryEndpoint } from '../domain/webhooks/trial/try-endpoint.ts'
import { eventPayloads } from '../handlers/platform/event-payloads.ts'
import { preCallAnswers } from '../handlers/platform/pre-call-answers.ts'
import { createWebhookClient } from '../providers/wire/webhook-client.ts'
import { createDeadlines } from '../runtime/outbound/deadlines.ts'
import { Loops } from '../runtime/timing/loops.ts'
import type { App } from './app.ts'

export type Webhooks = {
  deliveries: Deliveries
  stream: StreamWebhookEvents
  tryEndpoint: TryEndpoint
  preCall: PreCall
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
/** Sessions that start at once wait for one endpoint of their organization. More wait for a connection. */
const preCallConnectionsMax = 128

/** Resolves when notifications are received. */
export async function openWebhooks(app: App): Promise<Webhooks> {
  const { config, store, clock, ids, metrics, tracing } = app
  const { endpointInFlightMax } = config.webhooks
  const client = openClient(app, { connectionsMax: endpointInFlightMax + requestedMax, addressesMax })
  const shared = {
    client,
    clock,
    deadline: createDeadlines(clock),
    attemptId: ids.session,
    queue: store.webhookQueue,
    targets: store.webhookTargets,
    metrics,
    traces: tracing,
  }
  await dispatch(app, shared)
  return {
    deliveries: new Deliveries({ ...shared, store: store.webhookDeliveries, requestedMax }),
    stream: createStreamWebhookEvents({ store: store.webhookStreams, clock }),
    tryEndpoint: createTryEndpoint({
      ...shared,
      store: store.webhookDeliveries,
      endpoints: store.webhookEndpoints,
      payloads: eventPayloads,
      answers: preCallAnswers,
      id: ids.session,
    }),
    preCall: openPreCall(app),
  }
}

type Client = ReturnType<typeof createWebhookClient>
type ClientLimits = Omit<Parameters<typeof createWebhookClient>[0], 'guard' | 'clock'>

function openClient(app: App, limits: ClientLimits): Client {
  const { config, clock } = app
  const guard = { allowedSubnets: config.outbound.allowedSubnets }
  const client = createWebhookClient({ guard, clock, ...limits })
  app.closing(() => client.close())
  return client
}

/** When the process ends, attempts under way have a moment. Another process takes over the rest. */
async function dispatch(
  app: App,
  shared: Omit<ConstructorParameters<typeof Dispatcher>[0], 'log' | 'random' | 'limits'>,
): Promise<void> {
  const { config, store, clock, log, metrics, random } = app
  const { inFlightMax: max, endpointInFlightMax: endpointMax } = config.webhooks
  const dispatcher = new Dispatcher({ ...shared, log, random, limits: { max, endpointMax } })
  app.closing(() => dispatcher.stop(closeMs))
  const loops = new Loops(clock, log)
  app.closing(() => loops.stop(closeMs))
  loops.start({ name: 'deliveries of webhooks', everyMs: pollEveryMs, run: () => dispatcher.poll() })
  const measure = async () => {
    const { open, oldestDueMs } = await store.webhookQueue.backlog()
    metrics.webhookBacklog(open, oldestDueMs)
  }
  loops.start({ name: 'the backlog of webhooks', everyMs: measureEveryMs, run: measure })
  await store.webhookQueue.listen((endpoints) => dispatcher.wake(endpoints))
  // Deliveries became due while no process ran. A failure is repaired by the loop.
  void dispatcher.poll().catch(() => {})
}

/** The event before a call, whose answer can change the call. */
function openPreCall(app: App): PreCall {
  const { store, clock, ids, log, tracing } = app
  return createPreCall({
    client: openClient(app, { connectionsMax: preCallConnectionsMax }),
    clock,
    deadline: createDeadlines(clock),
    attemptId: ids.session,
    endpointOf: store.preCallEndpoint,
    targets: store.webhookTargets,
    deliveries: store.webhookDeliveries,
    payloads: eventPayloads,
    answers: preCallAnswers,
    eventId: ids.session,
    log,
    traces: tracing,
  })
}
