/** Stores calls' legs. If a statement is not about one organization, it runs with the operator's access. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Leg, LegStore, OrphanedLeg } from '../../domain/records/leg.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'
import { type CarrierTotal, CarrierUse } from './carrier-use.ts'

type Row = Omit<Leg, 'createdAtMs' | 'answeredAtMs' | 'endedAtMs' | 'microUsdPerMinute'> & {
  createdAt: Date
  answeredAt: Date | null
  endedAt: Date | null
  /** A bigint column, which the driver returns as text. */
  microUsdPerMinute: string | null
}

export type LegStoreDeps = { worlds: Worlds & Pick<Tenancy, 'asOperator'>; clock: Clock }

export type StoredLegs = LegStore & {
  /** Returns the time and cost of all legs ended by this process. */
  carrierUse(): readonly CarrierTotal[]
}

const columns = (tx: Tx) => tx`
  organization_id as "organizationId", test, id, call_id as "callId", party, direction, line,
  carrier_leg_id as "carrierLegId", created_at as "createdAt", answered_at as "answeredAt", ended_at as "endedAt",
  micro_usd_per_minute::text as "microUsdPerMinute"`

const ofLeg = (tx: Tx, { organizationId, test, id }: Tenant & { id: string }) =>
  tx`where organization_id = ${organizationId} and test = ${test} and id = ${id}`

export function createLegStore({ worlds, clock }: LegStoreDeps): StoredLegs {
  const use = new CarrierUse()
  return {
    carrierUse: () => use.read(),
    find: (line, { legId, carrierLegId }) =>
      worlds.asOperator(async (tx) => {
        const [row] = await tx<Row[]>`
          select ${columns(tx)} from call_legs
          where line = ${line} and (carrier_leg_id = ${carrierLegId} or (id = ${legId} and carrier_leg_id is null))`
        return row === undefined ? null : legOf(row)
      }),
    insert: (leg) => worlds.asTenant(leg, (tx) => insertLeg(tx, leg)),
    dialed: (leg, carrierLegId) =>
      worlds.asTenant(leg, async (tx) => {
        await tx`update call_legs set carrier_leg_id = ${carrierLegId} ${ofLeg(tx, leg)}`
      }),
    answered: (leg, atMs) =>
      worlds.asTenant(leg, async (tx) => {
        await tx`update call_legs set answered_at = ${new Date(atMs)} ${ofLeg(tx, leg)} and answered_at is null`
      }),
    ended: async (leg, atMs) => {
      const row = await worlds.asTenant(leg, (tx) => end(tx, leg, new Date(atMs)))
      if (row?.answeredAt) use.add(row, atMs - row.answeredAt.getTime(), row.price === null ? null : Number(row.price))
    },
    orphans: (graceMs, limit) =>
      worlds.asOperator((tx) => {
        const now = new Date(clock.nowMs())
        const endedBefore = new Date(clock.nowMs() - graceMs)
        return tx<OrphanedLeg[]>`
          with found as (
            select ${orphaned(tx)}, l.created_at as "createdAt",
              row_number() over (partition by l.line, l.organization_id order by l.created_at, l.id) as "ofOrganization"
            from call_legs l join calls c
              on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
            where l.ended_at is null
              and (${endsWithProcess(tx)} or l.bridged_at is null or (c.ended_at is not null and (c.end_reason <> 'transferred' or ${isUnpaid(tx)})) or exists (
                select from call_legs other
                where other.organization_id = l.organization_id and other.test = l.test and other.call_id = l.call_id
                  and other.bridged_at is not null and other.ended_at <= ${endedBefore}))
              and (c.ended_at <= ${endedBefore}
                or not exists (select from instances i where i.id = c.owner_id and i.alive_until > ${now})
                or exists (
                  select from transfers a
                  where a.organization_id = l.organization_id and a.test = l.test and a.call_id = l.call_id
                    and a.leg_id = l.id and a.status in ('failed', 'cancelled') and a.completed_at <= ${endedBefore}))),
          turns as (
            select *, row_number() over (partition by line order by "ofOrganization", "createdAt", id) as "ofLine" from found)
          select "organizationId", test, id, "callId", line, "carrierLegId" from turns
          where "ofLine" <= ${limit} order by "ofLine"`
      }),
    unattended: (limit) =>
      worlds.asOperator(
        (tx) => tx<OrphanedLeg[]>`
          select ${orphaned(tx)}
          from call_legs l join calls c
            on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
          where l.ended_at is null and l.bridged_at is not null and c.ended_at is not null and not ${endsWithProcess(tx)}
          order by random() limit ${limit}`,
      ),
  }
}

type Ended = Pick<Leg, 'line' | 'direction'> & { answeredAt: Date | null; price: string | null }

/** Ends the leg. Returns undefined if the leg had ended before. */
async function end(tx: Tx, leg: Tenant & { id: string }, at: Date): Promise<Ended | undefined> {
  const rows = await tx<Ended[]>`
    update call_legs set ended_at = ${at}, dialog = null ${ofLeg(tx, leg)} and ended_at is null
    returning line, direction, answered_at as "answeredAt", micro_usd_per_minute::text as price`
  return rows[0]
}

/**
 * SQL: the leg ends if our process dies. A trunk's audio goes through our process, so even two connected people hear
 * nothing then.
 */
const endsWithProcess = (tx: Tx) => tx`l.line = 'trunk'`

/** SQL: the call has an open leg with a price, and the organization has no credit. */
const isUnpaid = (tx: Tx) => tx`
  not l.test and exists (select from organizations o where o.id = l.organization_id and o.credit_micro_usd <= 0) and exists (
    select from call_legs paid
    where paid.organization_id = l.organization_id and paid.test = l.test and paid.call_id = l.call_id
      and paid.ended_at is null and paid.micro_usd_per_minute > 0)`

const orphaned = (tx: Tx) => tx`
  l.organization_id as "organizationId", l.test, l.id, l.call_id as "callId", l.line, l.carrier_leg_id as "carrierLegId"`

export async function insertLeg(tx: Tx, leg: Leg): Promise<void> {
  await tx`
    insert into call_legs (organization_id, test, id, call_id, party, direction, line, carrier_leg_id, created_at,
      micro_usd_per_minute)
    values (${leg.organizationId}, ${leg.test}, ${leg.id}, ${leg.callId}, ${leg.party}, ${leg.direction}, ${leg.line},
      ${leg.carrierLegId}, ${new Date(leg.createdAtMs)}, ${leg.microUsdPerMinute})`
}

function legOf({ createdAt, answeredAt, endedAt, microUsdPerMinute, ...leg }: Row): Leg {
  return {
    ...leg,
    createdAtMs: createdAt.getTime(),
    answeredAtMs: answeredAt?.getTime() ?? null,
    endedAtMs: endedAt?.getTime() ?? null,
    microUsdPerMinute: microUsdPerMinute === null ? null : Number(microUsdPerMinute),
  }
}
