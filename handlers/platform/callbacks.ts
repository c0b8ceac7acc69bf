/** Calls that agents have promised to make later. */
import { type Caller, tenantOf } from '../../domain/access/organization.ts'
import type { Callbacks } from '../../domain/callbacks/callbacks.ts'
import type { CallbackFilter, CallbackPosition } from '../../domain/callbacks/store.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { wireCallback } from './callback-wire.ts'

type Handlers = PlatformHandlers<Caller>

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
    const after = cursor === undefined ? null : readCursor(cursor)
    const { callbacks: found, next } = await callbacks.list(tenantOf(caller), filter, limit, after)
    return { status: 200, body: { callbacks: found.map(wireCallback), next_cursor: next && cursorOf(next) } }
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

function cursorOf({ createdAtMs, id }: CallbackPosition): string {
  return Buffer.from(`${createdAtMs}.${id}`).toString('base64url')
}

function readCursor(cursor: string): CallbackPosition {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, ms, id] = /^(\d{1,13})\.(callback_[0-9A-Za-z]{22})$/.exec(text) ?? []
  if (ms === undefined || id === undefined)
    throw new Refusal('invalid_parameter', {
      param: 'cursor',
      message: 'cursor is not one that a page had',
      keyword: 'format',
    })
  return { createdAtMs: Number(ms), id }
}
