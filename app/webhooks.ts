/** Sends call events to organizations' endpoints, asks endpoints before a call, and keeps a delivery log. */
import type { PreCall } from '../domain/sessions/pre-call.ts'
import { createPreCall } from '../domain/sessions/pre-call-webhook.ts'
import { createTryTool, type TryTool } from '../domain/tools/try-tool.ts'
import { Deliveries } from '../domain/webhooks/deliveries.ts'
import { Dispatcher } from '../domain/webhooks/dispatcher.ts'
import { createStreamWebhookEvents, type StreamWebhookEvents } from '../domain/webhooks/event-stream.ts'
import { createTryEndpoint, type TryEndpoint } from '../domain/webhooks/trial/try-endpoint.ts'
import { createVerifySignature, type VerifySignature } from '../domain/webhooks/verify-signature.ts'
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
  tryTool: TryTool
  verifySignature: VerifySignature
}

/** The interval for finding due deliveries. A delivery without a notification waits no longer than this. */
const pollEveryMs = 1_000
const closeMs = 5_000
/**
 * The interval for counting open deliveries. The count reads all open deliveries, so it runs less often than the poll.
 */
const measureEveryMs = 15_000
/** The maximum number of redeliveries in flight per organization, in addition to scheduled attempts. */
const requestedMax = 8
/** The maximum number of webhook servers (scheme, host and port) with connections kept open. */
const addressesMax = 512
/**
 * The maximum number of connections to one endpoint for pre-call events. If more sessions start at once, they wait for
 * a connection.
 */
const preCallConnectionsMax = 128

/** Opens the webhooks. Resolves when this process receives notifications about new deliveries. */
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
    verifySignature: createVerifySignature({
      ...shared,
      endpoints: store.webhookEndpoints,
      store: store.webhookDeliveries,
    }),
    tryTool: createTryTool({
      attempts: store.signInAttempts,
      ...shared,
      tools: store.tools,
      workspaceSecrets: (organizationId) => store.webhookSecrets.signingSecrets(organizationId),
      id: ids.session,
    }),
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

/**
 * Starts the deliveries. When the process ends, running attempts have `closeMs` to finish. Another process takes over
 * the remaining deliveries.
 */
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
  // Deliveries may have become due while no process ran. If this poll fails, the loop repeats it.
  void dispatcher.poll().catch(() => {})
}

/** Sends the event before a call. The endpoint's answer can change the call. */
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
