/** Inserts rows into the audit log. store/audit has the table's other statements. */
import {
  type AuditEntry,
  type AuditTarget,
  changedMax,
  type NewAuditEvent,
  userAgentCharactersMax,
} from '../../domain/records/audit.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Sql, Tx } from './connect.ts'
import { storable } from './row-values.ts'

export const newAuditId = () => `audit_${uniqueId()}`

/** Stores an event in its change's transaction. */
export async function insertAuditEvent(tx: Tx, event: NewAuditEvent, now: Date): Promise<void> {
  await tx`insert into audit_events (${columnNames(tx)}) values (${valuesOf(tx, newAuditId(), event)}, ${now})`
}

/**
 * Stores an entry if the transaction has written a row: only then does the transaction have an id. Otherwise resolves
 * with false. If two transactions for one request write, the first transaction stores the entry.
 */
export async function storeEntry(tx: Tx, { id, event, beganAt: now }: AuditEntry): Promise<boolean> {
  const { count } = await tx`
    insert into audit_events (${columnNames(tx)})
    select ${valuesOf(tx, id, event)}, ${now} where pg_current_xact_id_if_assigned() is not null
    on conflict do nothing`
  return count > 0
}

export const columnNames = (tx: Sql | Tx) => tx`
  organization_id, id, actor_type, actor_id, action, target_type, target_id, target_name, changed, value_changes, ip,
  user_agent, via, result, request_id, occurred_at`

/** Returns a target's name as the log has it. The name of an agent may have the character NUL. */
export function storedName(target: AuditTarget | null): string | null {
  const name = target?.name ?? null
  return name === null ? null : storable(name)
}

/** Returns the values for all columns except the last column. */
export function valuesOf(tx: Tx, id: string, event: NewAuditEvent) {
  const { actor, target, changed, values, source } = event
  return tx`
    ${event.organizationId}, ${id}, ${actor.type}, ${actor.id}, ${event.action}, ${target?.type ?? null}::text,
    ${target?.id ?? null}::text, ${storedName(target)}::text, ${tx.json(changed.slice(0, changedMax))},
    ${values === undefined ? null : tx.json(values)}::jsonb, ${source.ip}::text,
    ${source.userAgent?.slice(0, userAgentCharactersMax) ?? null}::text, ${source.via}, ${event.result}, ${event.requestId}::text`
}
