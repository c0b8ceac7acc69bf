/** The operations on the log of deliveries to an organization's endpoints. */
import type { WatchGrant } from '../../domain/access/revocations.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { TryTool } from '../../domain/tools/try-tool.ts'
import type { Deliveries } from '../../domain/webhooks/deliveries.ts'
import type { DeliveryFilter } from '../../domain/webhooks/delivery-store.ts'
import type { StreamWebhookEvents } from '../../domain/webhooks/event-stream.ts'
import type { TryEndpoint } from '../../domain/webhooks/trial/try-endpoint.ts'
import type { VerifySignature } from '../../domain/webhooks/verify-signature.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'
import { microsecondsOf, millisecondsOf } from './times.ts'
import { testAgentTool } from './tool-trials.ts'
import { wireAttemptResult, wireDelivery, wireEndpointOption, wireWholeDelivery } from './webhook-delivery-wire.ts'
import { streamWebhookEvents } from './webhook-stream.ts'

type Handlers = PlatformHandlers<Caller>

const cursorShape: CursorShape = { digitsMax: 13, id: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ }

export type WebhookDeliveryDeps = {
  deliveries: Deliveries
  tryEndpoint: TryEndpoint
  stream: StreamWebhookEvents
  tryTool: TryTool
  verifySignature: VerifySignature
}

export function webhookDeliveryOperations(
  { deliveries, tryEndpoint, stream, tryTool, verifySignature }: WebhookDeliveryDeps,
  watchGrant: WatchGrant,
) {
  return {
    listWebhookDeliveries: listWebhookDeliveries(deliveries),
    getWebhookDelivery: getWebhookDelivery(deliveries),
    redeliverWebhook: redeliverWebhook(deliveries),
    recoverWebhook: recoverWebhook(deliveries),
    testWebhook: testWebhook(tryEndpoint),
    testAgentTool: testAgentTool(tryTool),
    verifyWebhookSignature: verifyWebhookSignature(verifySignature),
    streamWebhookEvents: streamWebhookEvents(stream, watchGrant),
  } satisfies Partial<Handlers>
}

function listWebhookDeliveries(deliveries: Deliveries): Handlers['listWebhookDeliveries'] {
  return async (
    { query: { limit, cursor, from, to, endpointId, event, agentId, status, sessionId, eventId } },
    { caller },
  ) => {
    const filter: DeliveryFilter = {
      ...(endpointId !== undefined && { endpointId }),
      ...(event !== undefined && { type: event }),
      ...(agentId !== undefined && { agentId }),
      ...(status !== undefined && { status }),
      ...(sessionId !== undefined && { callId: sessionId }),
      ...(eventId !== undefined && { eventId }),
      // Stored times have whole milliseconds, so a fraction in `from` is rounded up.
      ...(from !== undefined && { fromMs: Math.ceil(microsecondsOf('from', from) / 1000) }),
      ...(to !== undefined && { toMs: millisecondsOf('to', to) }),
    }
    const after = cursor === undefined ? null : readCursor(cursor, cursorShape)
    const page = await deliveries.list(
      tenantOf(caller),
      filter,
      limit,
      after && { createdAtMs: after.at, id: after.id },
    )
    return {
      status: 200,
      body: {
        data: page.deliveries.map(wireDelivery),
        nextCursor: page.next && cursorOf({ at: page.next.createdAtMs, id: page.next.id }),
        endpointOptions: page.endpoints.map(wireEndpointOption),
      },
    }
  }
}

function getWebhookDelivery(deliveries: Deliveries): Handlers['getWebhookDelivery'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: wireWholeDelivery(await deliveries.get(tenantOf(caller), path.id)),
  })
}

function redeliverWebhook(deliveries: Deliveries): Handlers['redeliverWebhook'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: wireAttemptResult(await deliveries.redeliver(tenantOf(caller), path.id)),
  })
}

function recoverWebhook(deliveries: Deliveries): Handlers['recoverWebhook'] {
  return async ({ path, body: { since, until } }, { caller }) => {
    const range = {
      endpointId: path.id,
      // Stored times have whole milliseconds, so fractions are rounded up.
      fromMs: Math.ceil(microsecondsOf('/since', since) / 1000),
      toMs: until === undefined ? null : Math.ceil(microsecondsOf('/until', until) / 1000),
    }
    return { status: 202, body: { deliveries: await deliveries.recover(tenantOf(caller), range) } }
  }
}

function testWebhook(tryEndpoint: TryEndpoint): Handlers['testWebhook'] {
  return async ({ path, body }, { caller }) => {
    const { attempt, deliveryId, issues } = await tryEndpoint(tenantOf(caller), path.id, body?.event)
    const preCall = issues && { valid: issues.length === 0, issues: [...issues] }
    return { status: 200, body: { ...wireAttemptResult(attempt), deliveryId, ...(preCall && { preCall }) } }
  }
}

function verifyWebhookSignature(verify: VerifySignature): Handlers['verifyWebhookSignature'] {
  return async ({ path, body: { headers, body } }, { caller }) => {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
    const sent = { ...(id !== undefined && { id }), ...(timestamp !== undefined && { timestamp }) }
    const request = { ...sent, ...(signature !== undefined && { signature }), body }
    return { status: 200, body: await verify(tenantOf(caller), path.id, request) }
  }
}
