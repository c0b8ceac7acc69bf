/** Joins the event before a call to the endpoints, the client that sends it and the log of deliveries. */
import type { Traces } from './domain/ports/trace.ts'
import type { PreCall } from './domain/sessions/pre-call.ts'
import { createPreCall } from './domain/webhooks/pre-call.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { eventPayloads } from './handlers/platform/event-payloads.ts'
import { preCallAnswers } from './handlers/platform/pre-call-answers.ts'
import { createWebhookClient } from './providers/wire/webhook-client.ts'
import { systemClock, systemIds } from './runtime/clock.ts'
import type { createLog } from './runtime/log.ts'
import { createDeadlines } from './runtime/outbound/deadlines.ts'
import type { Store } from './store/store.ts'

export type PreCallParts = {
  config: ParleyConfig
  store: Store
  log: ReturnType<typeof createLog>
  tracing: Traces | null
}

export type PreCalls = { preCall: PreCall; close(): Promise<void> }

/** Sessions that start at once wait for one endpoint of their organization. More wait for a connection. */
const connectionsMax = 128

export function openPreCalls({ config, store, log, tracing }: PreCallParts): PreCalls {
  const client = createWebhookClient({
    guard: { allowedSubnets: config.outbound.allowedSubnets },
    monotonicMs: () => systemClock.monotonicMs(),
    connectionsMax,
  })
  const preCall = createPreCall({
    client,
    clock: systemClock,
    deadline: createDeadlines(systemClock),
    attemptId: systemIds.session,
    endpointOf: store.preCallEndpoint,
    targets: store.webhookTargets,
    deliveries: store.webhookDeliveries,
    payloads: eventPayloads,
    answers: preCallAnswers,
    eventId: systemIds.session,
    log,
    traces: tracing,
  })
  return { preCall, close: () => client.close() }
}
