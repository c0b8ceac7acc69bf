/** The operation that lists the audit log. */
import type { ActorNames } from '../../domain/access/api-keys.ts'
import type { Actor, AuditEvent, AuditFilter, AuditLog } from '../../domain/records/audit.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { type CursorShape, cursorOf, readCursor } from './cursors.ts'
import { millisecondsOf } from './times.ts'

type Handler = PlatformHandlers<Caller>['listAuditEvents']
type Query = Parameters<Handler>[0]['query']

/** The cursors' times are in milliseconds. */
const cursors: CursorShape = { digitsMax: 13, id: /^audit_[0-9A-Za-z]{1,40}$/ }

export function listAuditEvents(audit: Pick<AuditLog, 'list'>, actorNames: ActorNames): Handler {
  return async ({ query }, { caller: { organization } }) => {
    const position = query.cursor === undefined ? null : readCursor(query.cursor, cursors)
    const after = position && { occurredAtMs: position.at, id: position.id }
    const { events, next } = await audit.list(organization.id, filterOf(query), query.limit, after)
    const nameOf = await actorNames.read(
      organization.id,
      events.map(({ actor }) => actor),
      'email',
    )
    const nextCursor = next && cursorOf({ at: next.occurredAtMs, id: next.id })
    return { status: 200, body: { events: events.map((event) => wireEvent(event, nameOf)), nextCursor } }
  }
}

function filterOf(query: Query): AuditFilter {
  const { actorId, actorType, action, targetType, targetId, result, from, to } = query
  return {
    ...(actorId !== undefined && { actorId }),
    ...(actorType !== undefined && { actorType }),
    ...(action !== undefined && { action }),
    ...(targetType !== undefined && { targetType }),
    ...(targetId !== undefined && { targetId }),
    ...(result !== undefined && { result }),
    ...(from !== undefined && { fromMs: millisecondsOf('from', from) }),
    ...(to !== undefined && { toMs: millisecondsOf('to', to) }),
  }
}

function wireEvent(event: AuditEvent, nameOf: (actor: Actor) => string | null): Wire.AuditEvent {
  const { id, occurredAt, actor, action, target, changed, values, source, result, requestId } = event
  return {
    id,
    occurredAt: occurredAt.toISOString(),
    actor: { ...actor, name: nameOf(actor) },
    action: action as Wire.AuditAction,
    target,
    changed: [...changed],
    ...(values !== null && {
      values: Object.fromEntries(Object.entries(values).map(([field, pair]) => [field, [...pair]])),
    }),
    source,
    result,
    requestId,
  }
}
