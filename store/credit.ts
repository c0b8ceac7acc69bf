/**
 * The worst case of a request is taken from the balance before a provider is called, and noted as a reservation. A
 * crash loses nothing: the reservations of a dead process are given back. Settling (ledger.ts) removes the
 * reservation and takes the true cost.
 */
import type { Credit } from '../domain/billing/ledger.ts'
import type { Clock } from '../domain/ports/system.ts'
import { type BatchLimits, createBatcher } from './batch.ts'
import type { Sql } from './connect.ts'

const batches: BatchLimits = { rowsMax: 128, gatherMs: 1, idleGatherMs: 0, queueMax: 10_000 }
const sweepRowsMax = 1_000

export type StoredCredit = Credit & {
  /** Gives back the reservations of instances without a heartbeat. */
  sweep(): Promise<void>
  drain(): Promise<void>
  /** Reservations that wait for their answer. */
  waiting(): number
}

type Ask = { organizationId: string; requestId: string; microUsd: number }

export function createCredit(sql: Sql, clock: Clock, instanceId: string): StoredCredit {
  const reservations = createBatcher((asks: readonly Ask[]) => reserveAll(sql, asks, instanceId), batches)
  const cancellations = createBatcher((asks: readonly Ask[]) => cancelAll(sql, asks), batches)
  return {
    any: (organizationId) => hasCredit(sql, organizationId),
    reserve(organizationId, requestId, microUsd) {
      if (microUsd === 0) return Promise.resolve(true)
      return reservations.add({ organizationId, requestId, microUsd: Math.ceil(microUsd) })
    },
    cancel(organizationId, requestId, microUsd) {
      if (microUsd === 0) return Promise.resolve()
      return cancellations.add({ organizationId, requestId, microUsd })
    },
    sweep: () => giveBackOfTheDead(sql, new Date(clock.nowMs())),
    waiting: () => reservations.waiting(),
    async drain() {
      await Promise.all([reservations.drain(), cancellations.drain()])
    },
  }
}

async function hasCredit(sql: Sql, organizationId: string): Promise<boolean> {
  const [row] = await sql`select from organizations where id = ${organizationId} and credit_micro_usd > 0`
  return row !== undefined
}

/**
 * Grants the asks of an organization in their order while the balance covers them. A large ask that is refused does
 * not block a smaller one after it.
 */
async function reserveAll(sql: Sql, asks: readonly Ask[], instanceId: string): Promise<boolean[]> {
  const rows = await sql<{ index: number }[]>`
    select reserve_credit(${sql.json(asks.map((ask, index) => ({ ...ask, index })))}::json, ${instanceId}) as index`
  const granted = new Set(rows.map(({ index }) => index))
  return asks.map((_, index) => granted.has(index))
}

async function cancelAll(sql: Sql, asks: readonly Ask[]): Promise<undefined[]> {
  await sql`
    with given_back as (
      delete from reservations r
      using json_to_recordset(${sql.json([...asks])}::json) as a ("organizationId" text, "requestId" text)
      where r.organization_id = a."organizationId" and r.request_id = a."requestId"
      returning r.organization_id, r.micro_usd
    )
    update organizations o set credit_micro_usd = o.credit_micro_usd + g.micro_usd
    from (select organization_id, sum(micro_usd)::bigint as micro_usd from given_back
          group by organization_id order by organization_id) g
    where o.id = g.organization_id`
  return asks.map(() => undefined)
}

async function giveBackOfTheDead(sql: Sql, now: Date): Promise<void> {
  await sql`
    with dead as materialized (
      select organization_id, request_id from reservations r
      where not exists (select from instances i where i.id = r.instance_id and i.alive_until > ${now})
      limit ${sweepRowsMax} for update of r skip locked
    ), given_back as (
      delete from reservations r using dead d
      where r.organization_id = d.organization_id and r.request_id = d.request_id
      returning r.organization_id, r.micro_usd
    )
    update organizations o set credit_micro_usd = o.credit_micro_usd + g.micro_usd
    from (select organization_id, sum(micro_usd)::bigint as micro_usd from given_back
          group by organization_id order by organization_id) g
    where o.id = g.organization_id`
}
