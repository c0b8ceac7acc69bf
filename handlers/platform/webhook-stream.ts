import { grantOf, type WatchGrant } from '../../domain/access/revocations.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type {
  StoredWebhookEvent,
  Streamed,
  StreamPosition,
  StreamWebhookEvents,
} from '../../domain/webhooks/event-stream.ts'
import type { PlatformHandlers, StreamWebhookEventsEvent } from '../../generated/platform/handlers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { StreamedWebhookEvent } from '../../generated/platform/types.ts'
import type { CancelSignal } from '../../runtime/engine/cancel-signal.ts'
import { accessOf } from '../contract-access.ts'
import { untilRevoked } from '../revocable.ts'
import { timeOf } from './times.ts'

const access = accessOf(platformSurface.operations, 'streamWebhookEvents')

export function streamWebhookEvents(
  stream: StreamWebhookEvents,
  watchGrant: WatchGrant,
): PlatformHandlers<Caller>['streamWebhookEvents'] {
  return async ({ query, header }, { caller, signal }) => {
    const tenant = tenantOf(caller)
    const cursor = query.cursor ?? header['last-event-id']
    const from = cursor === undefined ? null : readPosition(cursor)
    const open = (signal: CancelSignal) => stream(tenant, from, signal)
    const streamed = await untilRevoked(watchGrant, grantOf(caller, access), signal, open)
    return { status: 200, body: eventsOf(streamed, tenant.test) }
  }
}

/** Reads a position in the stream of webhook events. The validator has checked the text's form already. */
function readPosition(text: string): StreamPosition {
  const [startMs = '', newestMs = ''] = text.split(':')
  return { startMs: Number(startMs), newestMs: Number(newestMs) }
}

async function* eventsOf(
  streamed: AsyncIterable<Streamed>,
  test: boolean,
): AsyncGenerator<StreamWebhookEventsEvent & { id: string }> {
  for await (const each of streamed) {
    const { startMs, newestMs } = each.position
    const cursor = `${startMs}:${newestMs}`
    yield { ...eventOf(each, cursor, test), id: cursor }
  }
}

function eventOf(streamed: Streamed, cursor: string, test: boolean): StreamWebhookEventsEvent {
  switch (streamed.kind) {
    case 'open':
      return { event: 'open', data: { cursor, test } }
    case 'event':
      return { event: 'webhook', data: { cursor, ...wireEvent(streamed.event) } }
    case 'end':
      return { event: 'end', data: { reason: 'timeout' } }
  }
}

function wireEvent({
  id,
  type,
  callId,
  version,
  occurredAtMs,
  body,
}: StoredWebhookEvent): Omit<StreamedWebhookEvent, 'cursor'> {
  return {
    eventId: id,
    event: type,
    sessionId: callId,
    version,
    occurredAt: timeOf(occurredAtMs),
    body: Buffer.from(body).toString('utf8'),
  }
}
