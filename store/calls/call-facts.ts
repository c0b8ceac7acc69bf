/**
 * Keeps a narrow row with facts for each call, by which a list filters and sorts calls. The row is written with each
 * change to the call. Its cost is summed after the call's end, because the last requests are stored later.
 */
import { costsOf } from '../../domain/calls/costs.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Tx } from '../postgres/connect.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { notifyLists } from './call-changes.ts'
import { readAttempts } from './call-entries.ts'
import { ofCall } from './call-rows.ts'
import { readLegUses } from './leg-charges.ts'
import { turnSums } from './turn-sums.ts'

/** A cost is summed this long after the call's end, and after its call report. */
const settleMs = 5_000
const atOnceMax = 100
/** Calls by a previous version have no facts. They are looked for at the start, and again after this time. */
const lookAgainMs = 3_600_000

/** Writes the facts of calls, without the cost. If `isDue`, the cost is summed a little later. */
export async function writeFacts(tx: Tx, ids: readonly string[], nowMs: number, isDue: boolean): Promise<void> {
  const dueAt = isDue ? new Date(nowMs + settleMs) : null
  await tx`
    insert into call_facts (organization_id, test, id, created_at, agent_id, agent_version, status, kind, direction,
      phone_number_id, from_reversed, to_reversed, end_reason, outcome, is_live, has_recording, turns, interruptions,
      tool_failures, transfers, failovers, p50_ms, duration_s, slowest_us, cost_micro_usd, is_unpriced, due_at)
    select organization_id, test, id, created_at, agent_id, agent_version, status, kind, phone->>'direction',
      phone->>'phoneNumberId', reverse(ltrim(phone->>'from', '+')), reverse(ltrim(phone->>'to', '+')), end_reason,
      (select outcome from call_reports r
        where r.organization_id = calls.organization_id and r.test = calls.test and r.call_id = calls.id),
      ended_at is null, coalesce(recording_status = 'ready', false), turns, interruptions, "toolFailures",
      (select count(*) from transfers t
        where t.organization_id = calls.organization_id and t.test = calls.test and t.call_id = calls.id),
      (select count(*) from call_events e where e.organization_id = calls.organization_id and e.test = calls.test
        and e.call_id = calls.id and e.type = 'agent.failover'),
      p50, coalesce(ceil(case when ended_at is not null
        then coalesce(extract(epoch from ended_at - started_at), 0) end), -1)::int,
      coalesce(round("slowestMs" * 1000), -1)::bigint, -1, false, ${dueAt}
    from calls cross join lateral (${turnSums(tx)}) as sums
    where id = any(${arrayLiteral(ids)}::uuid[])
    on conflict (organization_id, test, id) do update set agent_version = excluded.agent_version,
      status = excluded.status, direction = excluded.direction, phone_number_id = excluded.phone_number_id,
      from_reversed = excluded.from_reversed, to_reversed = excluded.to_reversed, end_reason = excluded.end_reason,
      outcome = excluded.outcome, is_live = excluded.is_live, has_recording = excluded.has_recording,
      turns = excluded.turns, interruptions = excluded.interruptions, tool_failures = excluded.tool_failures,
      transfers = excluded.transfers, failovers = excluded.failovers, p50_ms = excluded.p50_ms,
      duration_s = excluded.duration_s, slowest_us = excluded.slowest_us,
      due_at = coalesce(excluded.due_at, call_facts.due_at)`
}

type Owned = Tenant & { id: string }

/** Returns the loop's work: sums due costs, and makes missing facts. */
export function createFactsWork(tenancy: Pick<Tenancy, 'asOperator'>, clock: Clock): () => Promise<void> {
  /** The facts of calls before this id may be missing. Null: the next look begins with the newest call. */
  let beforeId: string | null = null
  let looksAgainAtMs = 0
  return async () => {
    await tenancy.asOperator(async (tx) => {
      const nowMs = clock.nowMs()
      const due = await tx<Owned[]>`
        select organization_id as "organizationId", test, id from call_facts
        where due_at <= ${new Date(nowMs)} order by due_at limit ${atOnceMax} for update skip locked`
      for (const call of due) await writeCost(tx, call, nowMs)
    })
    if (clock.nowMs() < looksAgainAtMs) return
    const missing = await tenancy.asOperator(async (tx) => {
      const nowMs = clock.nowMs()
      const calls = await tx<Owned[]>`
        select organization_id as "organizationId", test, id from calls c
        where ${beforeId === null ? tx`true` : tx`id < ${beforeId}`} and not exists (
          select from call_facts f where f.organization_id = c.organization_id and f.test = c.test and f.id = c.id)
        order by id desc limit ${atOnceMax}`
      if (calls.length === 0) return calls
      const ids = calls.map(({ id }) => id)
      await writeFacts(tx, ids, nowMs, false)
      for (const call of calls) await writeCost(tx, call, nowMs)
      return calls
    })
    beforeId = missing.at(-1)?.id ?? null
    if (missing.length < atOnceMax) {
      beforeId = null
      looksAgainAtMs = clock.nowMs() + lookAgainMs
    }
  }
}

/** Stores the cost of a call, which is the cost in its call report. A live call has no cost yet. */
async function writeCost(tx: Tx, call: Owned, nowMs: number): Promise<void> {
  const [attempts, legs] = [await readAttempts(tx, call, call.id), await readLegUses(tx, call, call.id, nowMs)]
  const { costMicroUsd, isComplete } = costsOf(attempts, legs, call.test)
  await tx`
    update call_facts set due_at = null,
      cost_micro_usd = case when is_live then -1 else ${Math.round(costMicroUsd)} end,
      is_unpriced = ${!isComplete}
    ${ofCall(tx, call, call.id)}`
  await notifyLists(tx, call)
}
