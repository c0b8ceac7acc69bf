/** Deletes old calls, and earlier their events and spans. The legs' usage is kept as daily sums. */
import { addToUsageDays, dayOf, legUse } from '../billing/usage-days.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Sweep } from '../postgres/sweep.ts'

/**
 * The maximum number of calls in one batch. A call has some hundred rows in other tables, which are deleted with it.
 */
const callsMax = 100

export function callSweep(before: () => Date): Sweep {
  return { kind: 'calls', rowsMax: callsMax, deleteSome: (tx) => deleteCalls(tx, before()) }
}

/** Deletes events and spans, while their calls stay. */
export function eventSweep(before: () => Date): Sweep {
  return { kind: 'events', rowsMax: callsMax, deleteSome: (tx) => deleteEvents(tx, before()) }
}

/**
 * Deletes old calls. A call stays until its recording is deleted (domain/calls/recording-retention.ts), its callbacks
 * are over, and its legs have ended and are paid. Its requests may be kept longer, so its agent is copied to them.
 */
async function deleteCalls(tx: Tx, before: Date): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    with due as materialized (
      select organization_id, test, id, agent_id, key_id, ended_at from calls c
      where ended_at < ${before} and coalesce(recording_status, 'suppressed') in ('failed', 'suppressed')
        and not exists (select from callbacks b where ${ofThe(tx, 'b', 'source_session_id')}
          and b.status in ('scheduled', 'dispatching'))
        and not exists (select from call_legs l where ${ofThe(tx, 'l', 'call_id')}
          and ((l.bridged_at is not null and l.ended_at is null)
            or (l.micro_usd_per_minute > 0 and l.answered_at is not null and not l.is_settled and not l.test)))
      order by ended_at limit ${callsMax} for update skip locked
    ), attributed as (
      update requests r set agent_id = c.agent_id from due c
      where r.organization_id = c.organization_id and r.call_id = c.id::text and c.agent_id is not null
    ), use as (
      select l.organization_id, l.test, ${tx.unsafe(dayOf('l.answered_at'))} as day, c.key_id, c.agent_id,
        l.line as provider, l.direction as model, 'carrier' as stage, ${tx.unsafe(legUse.columns)}
      from due c join call_legs l on ${ofThe(tx, 'l', 'call_id')} ${tx.unsafe(legUse.ended)}
      where l.answered_at is not null
    ), counted as (
      ${tx.unsafe(addToUsageDays('use'))}
    ), removed as (
      delete from calls d using due c
      where d.organization_id = c.organization_id and d.test = c.test and d.id = c.id
    )
    select count(*)::integer as count from due`
  return row.count
}

/** Returns an SQL condition: a row in another table belongs to the call `c`. */
const ofThe = (tx: Tx, alias: string, callId: string) =>
  tx.unsafe(`${alias}.organization_id = c.organization_id and ${alias}.test = c.test and ${alias}.${callId} = c.id`)

async function deleteEvents(tx: Tx, before: Date): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    with c as materialized (
      select organization_id, test, id from calls where ended_at < ${before} and not events_removed
      order by ended_at limit ${callsMax} for update skip locked
    ), events as (
      delete from call_events e using c where ${ofThe(tx, 'e', 'call_id')}
    ), spans as (
      delete from call_spans s using c where ${ofThe(tx, 's', 'call_id')}
    ), marked as (
      update calls d set events_removed = true from c
      where d.organization_id = c.organization_id and d.test = c.test and d.id = c.id
    )
    select count(*)::integer as count from c`
  return row.count
}
