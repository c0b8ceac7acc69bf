/**
 * Keeps a narrow row with facts for each call, by which a list filters and sorts calls. The row is written with each
 * change to the call. Its cost is summed after the call's end, because the last requests are stored later.
 */
import { costsOf } from '../../domain/calls/costs.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
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
/** The limit for one search for calls without facts. */
const readMax = 1_000
/**
 * Calls stored by a previous version have no facts. A process searches all calls for them at the start. After this time
 * it searches the last day's calls again, because a previous version may still run beside this process.
 */
const lookAgainMs = 3_600_000
const dayMs = 86_400_000
/**
 * If the facts of up to this many older calls could not be made, each new search tries these calls again. If there are
 * more, a later search goes through all calls again. The time until then doubles, up to a day, as long as such searches
 * make no facts, because a search through all calls is expensive.
 */
const leftMax = atOnceMax
/** If a call's cost could not be summed, it is summed again after this time. */
const failedMs = 60_000

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

type FactsDeps = { worlds: Pick<Tenancy, 'asOperator'>; clock: Clock; log: Log }

/** Counts the calls of one search. `failed` excludes locked calls. `first` is the first failure. */
type Tally = { made: number; failed: number; first: { err: unknown; callId: string } | null }

/** Returns the loop's work: sums due costs, and makes missing facts. */
export function createFactsWork(deps: FactsDeps): () => Promise<void> {
  const { worlds, clock } = deps
  /** The facts of calls before this id may be missing. Null: the next search begins with the newest call. */
  let beforeId: string | null = null
  /** Calls before this id were searched. */
  let floorId = oldestId
  /** Calls before `floorId` that still have no facts, because making the facts failed or the call's row was locked. */
  let left: string[] = []
  let beganAtMs = clock.nowMs()
  let looksAgainAtMs = 0
  let tally = newTally()
  /** The time of the next search through all calls. Null if no such search is needed. */
  let looksAtAllAtMs: number | null = null
  /** If the next search has too many failed calls, a search through all calls begins after this time. */
  let looksAtAllInMs = lookAgainMs
  return async () => {
    await worlds.asOperator((tx) => sumDueCosts(tx, deps))
    if (clock.nowMs() < looksAgainAtMs) return
    if (beforeId === null) {
      beganAtMs = clock.nowMs()
      tally = newTally()
      if (looksAtAllAtMs !== null && looksAtAllAtMs <= beganAtMs) {
        floorId = oldestId
        looksAtAllAtMs = null
      }
      left = await worlds.asOperator(async (tx) => makeFacts(tx, deps, await missingOf(tx, left), tally))
    }
    const look = await worlds.asOperator(async (tx) => {
      const { missing, next } = await findMissing(tx, beforeId, floorId)
      return { next, failed: await makeFacts(tx, deps, missing, tally) }
    })
    const nextFloorId = idAt(beganAtMs - dayMs)
    // A newer call is found again by the next searches.
    left = [...left, ...look.failed.filter((id) => id < nextFloorId)].slice(0, leftMax + 1)
    beforeId = look.next
    if (beforeId !== null) return
    logFailed(deps, tally)
    looksAgainAtMs = clock.nowMs() + lookAgainMs
    // A search through the last day's calls says nothing about older calls.
    if (floorId === oldestId && tally.made > 0) looksAtAllInMs = lookAgainMs
    floorId = nextFloorId
    if (left.length <= leftMax) return
    left = []
    if (looksAtAllAtMs !== null) return
    looksAtAllAtMs = clock.nowMs() + looksAtAllInMs
    looksAtAllInMs = Math.min(2 * looksAtAllInMs, dayMs)
  }
}

const newTally = (): Tally => ({ made: 0, failed: 0, first: null })

/** Logs one line for all failed calls, because otherwise a fault that breaks many calls would fill the log. */
function logFailed({ log }: FactsDeps, { failed, first }: Tally): void {
  if (first !== null) log.error({ ...first, calls: failed }, 'the facts about some calls could not be made')
}

/** Returns the least id for a call at this time, because ids are UUIDv7. */
function idAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** All calls have this id or a greater id. */
const oldestId = idAt(0)

async function sumDueCosts(tx: Tx, deps: FactsDeps): Promise<void> {
  const nowMs = deps.clock.nowMs()
  const due = await tx<Owned[]>`
    select organization_id as "organizationId", test, id from call_facts
    where due_at <= ${new Date(nowMs)} order by due_at limit ${atOnceMax} for update skip locked`
  const tally = newTally()
  for (const call of due)
    if (!(await isDone(tx, call, tally, (inner) => settleCost(inner, call, nowMs))))
      await tx`update call_facts set due_at = ${new Date(nowMs + failedMs)} ${ofCall(tx, call, call.id)}`
  logFailed(deps, tally)
}

/** Finds the next calls without facts, newest first. `next` is the first id for the next search, or null at the end. */
async function findMissing(
  tx: Tx,
  beforeId: string | null,
  floorId: string,
): Promise<{ missing: string[]; next: string | null }> {
  const read = await tx<{ id: string; isMissing: boolean }[]>`
    select id, ${hasNoFacts(tx)} as "isMissing"
    from calls c where id >= ${floorId} and ${beforeId === null ? tx`true` : tx`id < ${beforeId}`}
    order by id desc limit ${readMax}`
  const missing = idsOf(read.filter(({ isMissing }) => isMissing)).slice(0, atOnceMax)
  if (missing.length === atOnceMax) return { missing, next: missing.at(-1) ?? null }
  return { missing, next: read.length < readMax ? null : (read.at(-1)?.id ?? null) }
}

/** Leaves out deleted calls and calls with facts. */
async function missingOf(tx: Tx, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await tx<{ id: string }[]>`
    select id from calls c where id = any(${arrayLiteral(ids)}::uuid[]) and ${hasNoFacts(tx)}`
  return idsOf(rows)
}

const hasNoFacts = (tx: Tx) =>
  tx`not exists (select from call_facts f where f.organization_id = c.organization_id and f.test = c.test and f.id = c.id)`

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

/** Makes the facts of calls. Resolves with the ids of failed calls, and of calls locked by another transaction. */
async function makeFacts(tx: Tx, { clock }: FactsDeps, ids: readonly string[], tally: Tally): Promise<string[]> {
  if (ids.length === 0) return []
  const nowMs = clock.nowMs()
  const calls = await tx<Owned[]>`
    select organization_id as "organizationId", test, id from calls
    where id = any(${arrayLiteral(ids)}::uuid[]) for update skip locked`
  const made = new Set<string>()
  for (const call of calls) {
    const work = async (inner: Tx) => {
      await writeFacts(inner, [call.id], nowMs, false)
      await writeCost(inner, call, nowMs)
    }
    if (await isDone(tx, call, tally, work)) made.add(call.id)
  }
  return ids.filter((id) => !made.has(id))
}

/** Works on one call. If the work fails, only its own changes are taken back. */
async function isDone(tx: Tx, { id }: Owned, tally: Tally, work: (tx: Tx) => Promise<void>): Promise<boolean> {
  try {
    await tx.savepoint((inner) => work(inner))
    tally.made += 1
    return true
  } catch (err) {
    tally.failed += 1
    tally.first ??= { err, callId: id }
    return false
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
}

async function settleCost(tx: Tx, call: Owned, nowMs: number): Promise<void> {
  await writeCost(tx, call, nowMs)
  await notifyLists(tx, call)
}
