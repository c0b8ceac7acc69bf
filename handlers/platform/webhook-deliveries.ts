/** The log of deliveries to the endpoints of an organization. */
import { type Caller, tenantOf } from '../../domain/access/organization.ts'
import type { Deliveries } from '../../domain/webhooks/deliveries.ts'
import type { DeliveryFilter, DeliveryPosition } from '../../domain/webhooks/delivery-store.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { microsecondsOf, millisecondsOf } from './times.ts'
import { wireAttemptResult, wireDelivery, wireEndpointOption, wireWholeDelivery } from './webhook-delivery-wire.ts'

type Handlers = PlatformHandlers<Caller>

export function webhookDeliveryOperations(deliveries: Deliveries) {
  return {
    listWebhookDeliveries: listWebhookDeliveries(deliveries),
    getWebhookDelivery: getWebhookDelivery(deliveries),
    redeliverWebhook: redeliverWebhook(deliveries),
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
      // Deliveries have whole milliseconds, so a part of one at the beginning counts as the next.
      ...(from !== undefined && { fromMs: Math.ceil(microsecondsOf('from', from) / 1000) }),
      ...(to !== undefined && { toMs: millisecondsOf('to', to) }),
    }
    const after = cursor === undefined ? null : readCursor(cursor)
    const page = await deliveries.list(tenantOf(caller), filter, limit, after)
    return {
      status: 200,
      body: {
        data: page.deliveries.map(wireDelivery),
        nextCursor: page.next && cursorOf(page.next),
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

function cursorOf({ createdAtMs, id }: DeliveryPosition): string {
  return Buffer.from(`${createdAtMs}.${id}`).toString('base64url')
}

function readCursor(cursor: string): DeliveryPosition {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, ms, id] = /^(\d{1,13})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(text) ?? []
  if (ms === undefined || id === undefined)
    throw new Refusal('invalid_parameter', {
      param: 'cursor',
      message: 'cursor is not one that a page had',
      keyword: 'format',
    })
  return { createdAtMs: Number(ms), id }
}
