import { grantOf, type WatchGrant } from '../../domain/access/revocations.ts'
import type { FollowCalls, FollowedCalls } from '../../domain/calls/follow-calls.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers, StreamCallsEvent } from '../../generated/platform/handlers.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import type { CancelSignal } from '../../runtime/engine/cancel-signal.ts'
import { accessOf } from '../contract-access.ts'
import { untilRevoked } from '../revocable.ts'
import { filterOf, overviewOf } from './call-list.ts'

const access = accessOf(platformSurface.operations, 'streamCalls')

export function streamCalls(follow: FollowCalls, watchGrant: WatchGrant): PlatformHandlers<Caller>['streamCalls'] {
  return async ({ query }, { caller, signal }) => {
    const tenant = tenantOf(caller)
    const open = (signal: CancelSignal) => follow(tenant, filterOf(query), signal)
    const followed = await untilRevoked(watchGrant, grantOf(caller, access), signal, open)
    return { status: 200, body: eventsOf(followed, tenant.test) }
  }
}

async function* eventsOf(followed: AsyncIterable<FollowedCalls>, test: boolean): AsyncGenerator<StreamCallsEvent> {
  for await (const each of followed) yield eventOf(each, test)
}

function eventOf(followed: FollowedCalls, test: boolean): StreamCallsEvent {
  switch (followed.kind) {
    case 'open':
      return { event: 'open', data: { test } }
    case 'call':
      return { event: 'call', data: overviewOf(followed.call, false) }
    case 'gone':
      return { event: 'gone', data: { id: followed.id } }
    case 'resync':
      return { event: 'resync', data: {} }
    case 'end':
      return { event: 'end', data: { reason: 'timeout' } }
  }
}
