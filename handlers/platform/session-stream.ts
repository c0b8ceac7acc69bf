import { grantOf, type WatchGrant } from '../../domain/access/revocations.ts'
import type { FollowCall, Followed, FollowPosition } from '../../domain/calls/follow.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers, StreamSessionEvent } from '../../generated/platform/handlers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { CancelSignal } from '../../runtime/engine/cancel-signal.ts'
import { accessOf } from '../contract-access.ts'
import { untilRevoked } from '../revocable.ts'
import { wireEvent } from './call-wire.ts'
import { timeOrNull } from './times.ts'
import { sessionTurn } from './turn-wire.ts'

type Handlers = PlatformHandlers<Caller>

const access = accessOf(platformSurface.operations, 'streamSession')

export function streamSession(follow: FollowCall, watchGrant: WatchGrant): Handlers['streamSession'] {
  return async ({ path: { id }, query, header }, { caller, signal }) => {
    const from = readPosition(query.cursor ?? header['last-event-id'] ?? '-1:0')
    const open = (signal: CancelSignal) => follow(tenantOf(caller), id, from, signal)
    const followed = await untilRevoked(watchGrant, grantOf(caller, access), signal, open)
    return { status: 200, body: eventsOf(followed, { id, organizationId: caller.organization.id }) }
  }
}

/** Reads a position in the session's event stream. The validator has checked the text's form already. */
function readPosition(text: string): FollowPosition {
  const [turn = '', eventMs = ''] = text.split(':')
  return { turn: Number(turn), eventMs: Number(eventMs) }
}

type CallOf = { id: string; organizationId: string }

async function* eventsOf(followed: AsyncIterable<Followed>, call: CallOf): AsyncGenerator<StreamSessionEvent> {
  for await (const each of followed) {
    const { turn, eventMs } = each.position
    const event: StreamSessionEvent & { id: string } = { ...eventOf(each, call), id: `${turn}:${eventMs}` }
    yield event
  }
}

function eventOf(followed: Followed, call: CallOf): StreamSessionEvent {
  switch (followed.kind) {
    case 'status':
      return { event: 'status', data: { status: followed.status, endedAt: timeOrNull(followed.endedAtMs) } }
    case 'turn':
      return { event: 'transcript', data: sessionTurn(followed.turn) }
    case 'event':
      return { event: 'event', data: wireEvent(call, followed.event) }
    case 'end':
      return { event: 'end', data: { reason: followed.reason } }
  }
}
