/** The operations on callbacks: calls that agents have promised to make later. */
import type { Callbacks } from '../../domain/callbacks/callbacks.ts'
import type { CallbackFilter } from '../../domain/callbacks/store.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { wireCallback } from './callback-wire.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'

type Handlers = PlatformHandlers<Caller>

/** The cursors' times are in milliseconds. */
const cursors: CursorShape = { digitsMax: 13, id: /^callback_[0-9A-Za-z]{22}$/ }

export function callbackOperations(callbacks: Callbacks) {
  return {
    listCallbacks: listCallbacks(callbacks),
    getCallback: getCallback(callbacks),
    cancelCallback: cancelCallback(callbacks),
    dispatchCallback: dispatchCallback(callbacks),
  } satisfies Partial<Handlers>
}

function listCallbacks(callbacks: Callbacks): Handlers['listCallbacks'] {
  return async ({ query: { limit, cursor, status, source_session_id: sourceSessionId } }, { caller }) => {
    const filter: CallbackFilter = {
      ...(status !== undefined && { status }),
      ...(sourceSessionId !== undefined && { sourceSessionId }),
    }
    const position = cursor === undefined ? null : readCursor(cursor, cursors)
    const after = position && { createdAtMs: position.at, id: position.id }
    const { callbacks: page, next } = await callbacks.list(tenantOf(caller), filter, limit, after)
    const nextCursor = next && cursorOf({ at: next.createdAtMs, id: next.id })
    return { status: 200, body: { callbacks: page.map(wireCallback), next_cursor: nextCursor } }
  }
}

function getCallback(callbacks: Callbacks): Handlers['getCallback'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: wireCallback(await callbacks.get(tenantOf(caller), path.id)),
  })
}

function cancelCallback(callbacks: Callbacks): Handlers['cancelCallback'] {
  return async ({ path, body }, { caller }) => ({
    status: 200,
    body: wireCallback(await callbacks.cancel(tenantOf(caller), path.id, body?.reason ?? null)),
  })
}

function dispatchCallback(callbacks: Callbacks): Handlers['dispatchCallback'] {
  return async ({ path }, { caller }) => ({
    status: 200,
    body: wireCallback(await callbacks.dispatch(tenantOf(caller), path.id)),
  })
}
