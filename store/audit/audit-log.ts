/** Reads and completes the audit log. Rows are inserted by store/postgres/audit-rows.ts. */

import type { Clock } from '../../domain/ports/system.ts'
import type { AuditEvent, AuditFilter, AuditLog, AuditPosition, AuditTarget } from '../../domain/records/audit.ts'
import { columnNames, insertAuditEvent, newAuditId, storedName, valuesOf } from '../postgres/audit-rows.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Sweep } from '../postgres/sweep.ts'
import type { Tenancy } from '../postgres/tenant.ts'

const hourMs = 3_600_000

export function createAuditLog(tenancy: Tenancy, clock: Clock): AuditLog {
  const now = () => new Date(clock.nowMs())
  return {
    add(event) {
      // The time is taken before the transaction begins, because the transaction may first wait for a connection.
      const at = now()
      return tenancy.asOrganization(event.organizationId, (tx) => insertAuditEvent(tx, event, at))
    },
    addHourly(event) {
      const at = now()
      return tenancy.asOrganization(event.organizationId, async (tx) => {
        await tx`
          insert into audit_events (${columnNames(tx)})
          select ${valuesOf(tx, newAuditId(), event)}, ${at} where not exists (
            select from audit_events where organization_id = ${event.organizationId} and actor_id = ${event.actor.id}
              and action = ${event.action} and target_id = ${event.target?.id ?? ''}
              and occurred_at > ${new Date(at.getTime() - hourMs)})`
      })
    },
    finish: ({ id, event, beganAt, isStored }) =>
      tenancy.asOrganization(event.organizationId, async (tx) => {
        const { target, values } = event
        if (!isStored) await insertAuditEvent(tx, event, beganAt)
        else
          await tx`
            update audit_events set target_type = ${target?.type ?? null}, target_id = ${target?.id ?? null},
              target_name = ${storedName(target)}, value_changes = ${values === undefined ? null : tx.json(values)}
            where organization_id = ${event.organizationId} and id = ${id}`
      }),
    abandon: ({ id, event: { organizationId } }) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        await tx`delete from audit_events where organization_id = ${organizationId} and id = ${id}`
      }),
    list: (organizationId, filter, limit, after) =>
      tenancy.asOrganization(organizationId, async (tx) => {
        const rows = await readPage(tx, organizationId, filter, limit + 1, after)
        const events = rows.slice(0, limit).map(eventOf)
        const last = events.at(-1)
        const next = rows.length > limit && last ? { occurredAtMs: last.occurredAt.getTime(), id: last.id } : null
        return { events, next }
      }),
  }
}

type Row = Omit<AuditEvent, 'actor' | 'target' | 'source'> &
  AuditEvent['source'] & {
    actorType: AuditEvent['actor']['type']
    actorId: string | null
    targetType: string | null
    targetId: string | null
    targetName: string | null
  }

function readPage(tx: Tx, organizationId: string, filter: AuditFilter, rowsMax: number, after: AuditPosition | null) {
  const { actorId = null, actorType = null, action = null, targetType = null, targetId = null, result = null } = filter
  const family = action?.endsWith('.*') ? action.slice(0, -1) : null
  const timeOf = (ms: number | undefined) => (ms === undefined ? null : new Date(ms))
  return tx<Row[]>`
    select id, organization_id as "organizationId", date_trunc('milliseconds', occurred_at) as "occurredAt",
      actor_type as "actorType", actor_id as "actorId", action, target_type as "targetType", target_id as "targetId",
      target_name as "targetName", changed, value_changes as values, ip, user_agent as "userAgent", via, result,
      request_id as "requestId"
    from audit_events
    where organization_id = ${organizationId}
      ${actorId === null ? tx`` : tx`and actor_id = ${actorId}`}
      ${actorType === null ? tx`` : tx`and actor_type = ${actorType}`}
      ${action === null ? tx`` : family === null ? tx`and action = ${action}` : tx`and starts_with(action, ${family})`}
      ${targetType === null ? tx`` : tx`and target_type = ${targetType}`}
      ${targetId === null ? tx`` : tx`and target_id = ${targetId}`}
      ${result === null ? tx`` : tx`and result = ${result}`}
      ${filter.fromMs === undefined ? tx`` : tx`and occurred_at >= ${timeOf(filter.fromMs)}`}
      ${filter.toMs === undefined ? tx`` : tx`and occurred_at < ${timeOf(filter.toMs)}`}
      ${after === null ? tx`` : tx`and (occurred_at, id) < (${new Date(after.occurredAtMs)}, ${after.id})`}
    order by occurred_at desc, id desc limit ${rowsMax}`
}

function eventOf({ actorType, actorId, targetType, targetId, targetName, ip, userAgent, via, ...event }: Row) {
  const target: AuditTarget | null =
    targetType === null || targetId === null ? null : { type: targetType, id: targetId, name: targetName }
  return { ...event, actor: { type: actorType, id: actorId }, target, source: { ip, userAgent, via } }
}

const rowsMax = 1_000

/** Deletes old events. */
export function auditSweep(before: () => Date): Sweep {
  return {
    kind: 'audit events',
    rowsMax,
    deleteSome: async (tx) => {
      const { count } = await tx`
        delete from audit_events where (organization_id, id) in (
          select organization_id, id from audit_events where occurred_at < ${before()} order by occurred_at limit ${rowsMax})`
      return count
    },
  }
}
