/**
 * Debits legs. A leg's row has the sum debited so far. The sum and the balance change in one transaction, so a process
 * that dies leaves both changes or neither.
 */
import type { Clock } from '../../domain/ports/system.ts'
import { type ChargedLeg, chargeOf, type LegChargeStore, type LegUse } from '../../domain/records/leg-costs.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { addToDay } from '../billing/credit-movements.ts'
import { countForKeys } from '../billing/key-budgets.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

/** The maximum number of legs to read for a call. Each transfer adds a leg to its call. */
const legsMax = 1_000

type Row = {
  id: string
  organizationId: string
  answeredAt: Date
  endedAt: Date | null
  /** Bigint columns, which the driver returns as text. */
  microUsdPerMinute: string
  chargedMicroUsd: string
}
type Debit = { id: string; organizationId: string; microUsd: number; isSettled: boolean }

export function createLegCharges(worlds: Worlds & Tenancy, clock: Clock): LegChargeStore {
  return {
    charge: (limit) =>
      worlds.asOperator(async (tx) => {
        const nowMs = clock.nowMs()
        const debits = (await readDue(tx, new Date(nowMs), limit)).map((row) => debitOf(row, nowMs))
        if (debits.length > 0) await write(tx, debits, new Date(nowMs))
        return debits.length
      }),
    withoutCredit: (ownerId, limit) =>
      worlds.asOperator((tx) => readUncovered(tx, ownerId, new Date(clock.nowMs()), limit)),
  }
}

/**
 * Finds calls that the credit or their key's budget no longer covers. A leg is debited when its minute is over, so the
 * credit must also cover the current minutes. Otherwise fifty calls with credit for one call would each go on for a
 * minute. The credit covers legs by their answer time, earliest first. Reserved credit counts too, because most of each
 * reservation is given back.
 */
function readUncovered(tx: Tx, ownerId: string, now: Date, limit: number): Promise<(Tenant & { callId: string })[]> {
  return tx<(Tenant & { callId: string })[]>`
    with live as (
      select l.organization_id, l.test, l.call_id, c.key_id, c.owner_id, c.ended_at,
        sum(l.micro_usd_per_minute) over (partition by l.organization_id order by l.answered_at, l.id) as of_organization,
        sum(l.micro_usd_per_minute) over (partition by l.organization_id, c.key_id order by l.answered_at, l.id) as of_key
      from call_legs l
      join calls c on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
      where ${unsettled(tx)} and l.ended_at is null
    )
    select distinct l.organization_id as "organizationId", l.test, l.call_id as "callId"
    from live l
    join organizations o on o.id = l.organization_id
    left join (
      select organization_id, sum(micro_usd) as reserved from reservations group by organization_id
    ) r on r.organization_id = l.organization_id
    left join api_keys k on k.organization_id = l.organization_id and k.id = l.key_id
    left join key_budgets b on b.organization_id = l.organization_id and b.key_id = l.key_id
      and b.period = budget_period(k.policy #>> '{budget,period}', ${now})
    where l.owner_id = ${ownerId} and l.ended_at is null and (
      l.of_organization > o.credit_micro_usd + coalesce(r.reserved, 0)
      or coalesce(b.spent_micro_usd, 0) + l.of_key > (k.policy #>> '{budget,microUsd}')::bigint)
    limit ${limit}`
}

/**
 * SQL: the leg is answered, has a price and is not settled. The SQL contains the partial index's condition, so Postgres
 * uses the index. A test call costs nothing.
 */
const unsettled = (tx: Tx) =>
  tx`l.micro_usd_per_minute > 0 and l.answered_at is not null and not l.is_settled and not l.test`

function readDue(tx: Tx, now: Date, limit: number): Promise<Row[]> {
  return tx<Row[]>`
    select l.id, l.organization_id as "organizationId", l.answered_at as "answeredAt", l.ended_at as "endedAt",
      l.micro_usd_per_minute::text as "microUsdPerMinute", l.charged_micro_usd::text as "chargedMicroUsd"
    from call_legs l
    where ${unsettled(tx)} and (l.ended_at is not null or
      l.micro_usd_per_minute * floor(extract(epoch from ${now}::timestamptz - l.answered_at) / 60) > l.charged_micro_usd)
    order by l.answered_at limit ${limit} for update skip locked`
}

function debitOf({ id, organizationId, chargedMicroUsd, ...row }: Row, nowMs: number): Debit {
  const leg: ChargedLeg = {
    answeredAtMs: row.answeredAt.getTime(),
    endedAtMs: row.endedAt?.getTime() ?? null,
    microUsdPerMinute: Number(row.microUsdPerMinute),
  }
  // If a leg's end is reported late, a minute after the end may be debited already. Then the amount is negative and is
  // given back.
  const microUsd = chargeOf(leg, nowMs) - Number(chargedMicroUsd)
  return { id, organizationId, microUsd, isSettled: leg.endedAtMs !== null }
}

async function write(tx: Tx, debits: readonly Debit[], now: Date): Promise<void> {
  const rows = JSON.stringify(debits)
  await tx`
    update call_legs l set charged_micro_usd = l.charged_micro_usd + d."microUsd", is_settled = d."isSettled"
    from json_to_recordset(${rows}::text::json) as d (id text, "microUsd" bigint, "isSettled" boolean)
    where l.id = d.id`
  await tx`
    update organizations o set credit_micro_usd = o.credit_micro_usd - d.micro_usd
    from (select "organizationId" as id, sum("microUsd")::bigint as micro_usd
          from json_to_recordset(${rows}::text::json) as r ("organizationId" text, "microUsd" bigint)
          group by 1 order by 1) d
    where o.id = d.id and d.micro_usd <> 0`
  await tx`
    with spent as (
      select "organizationId" as organization_id, -sum("microUsd")::bigint as micro_usd
      from json_to_recordset(${rows}::text::json) as r ("organizationId" text, "microUsd" bigint)
      group by 1 having sum("microUsd") <> 0 order by 1
    ) ${addToDay(tx, 'calls', now)}`
  await tx`
    with of_keys as materialized (
      select c.organization_id, c.key_id, budget_period(k.policy #>> '{budget,period}', ${now}) as period,
        sum(d."microUsd")::bigint as spent, 0 as released, min((k.policy #>> '{budget,microUsd}')::bigint) as budget
      from json_to_recordset(${rows}::text::json) as d (id text, "microUsd" bigint)
      join call_legs l on l.id = d.id
      join calls c on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
      join api_keys k on k.organization_id = c.organization_id and k.id = c.key_id and k.policy ? 'budget'
      where d."microUsd" <> 0 group by 1, 2, 3 order by 1, 2, 3
    ), ${countForKeys(tx, 'of_keys', now)}
    select`
}

/** Reads a call's answered legs. A bridged leg can outlive its call, so its time counts until the leg ends. */
export async function readLegUses(
  tx: Tx,
  { organizationId, test }: Tenant,
  callId: string,
  nowMs: number,
): Promise<readonly LegUse[]> {
  const rows = await tx<
    (Omit<LegUse, 'durationMs' | 'microUsdPerMinute'> & { durationMs: number; price: string | null })[]
  >`
    select l.party, l.direction, l.line, l.micro_usd_per_minute::text as price,
      (extract(epoch from coalesce(l.ended_at, case when l.bridged_at is null then c.ended_at end, ${new Date(nowMs)})
        - l.answered_at) * 1000)::double precision as "durationMs"
    from call_legs l join calls c on c.organization_id = l.organization_id and c.test = l.test and c.id = l.call_id
    where l.organization_id = ${organizationId} and l.test = ${test} and l.call_id = ${callId}
      and l.answered_at is not null
    order by l.created_at, l.id limit ${legsMax}`
  return rows.map(({ price, ...use }) => ({ ...use, microUsdPerMinute: price === null ? null : Number(price) }))
}
