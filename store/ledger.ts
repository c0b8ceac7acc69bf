import type { Ledger, LedgerAttempt, Settlement } from '../domain/billing/ledger.ts'
import type { KeyUse } from '../domain/idempotency/idempotency.ts'
import type { Clock, Log } from '../domain/ports/system.ts'
import type { Choice } from '../domain/routing/choice.ts'
import { type BatchLimits, createBatcher } from './batch.ts'
import type { ChoiceRow, Choices } from './choices.ts'
import type { Sql } from './connect.ts'
import { arrayLiteral, ofUses, ownedBy } from './key-match.ts'
import { isPassing } from './unavailable.ts'

/** Nobody waits for a settlement: it is gathered also when it comes alone, and stays out of the way of the next request. */
const batches: BatchLimits = { rowsMax: 256, inFlightMax: 1, gatherMs: 10, idleGatherMs: 10, queueMax: 50_000 }
/** Together about 15 s: what was done has been done, so a settlement outlasts a restart of Postgres. */
const retryDelaysMs = [100, 200, 500, 1_000, 2_000, 4_000, 8_000]

/**
 * A settlement as it waits for its batch. It outlives its request by tens of milliseconds, thousands of times a second, so its rows are text from
 * the start: to the garbage collector a text is one object, and a settlement is thirty that would be moved again and again.
 */
type Waiting = {
  requestId: string
  organizationId: string
  choice: Choice
  use: KeyUse | undefined
  hasFailed: boolean
  /** JSON of the request with its last attempt. */
  row: string
  /** JSON of the attempts before the last one; '' where there are none. */
  earlier: string
}

/** `drain` resolves when all that was settled is written. */
export type StoredLedger = Ledger & { drain(): Promise<void> }

export function createLedger(sql: Sql, clock: Clock, log: Log, choices: Choices): StoredLedger {
  const settlements = createBatcher(settleAll, batches)

  async function settleAll(rows: readonly Waiting[]): Promise<readonly undefined[]> {
    try {
      await settleTogether(rows)
    } catch (err) {
      // One row that Postgres refuses must not take the others with it.
      if (rows.length === 1 || isPassing(err)) for (const row of rows) lost(row.requestId, err)
      else for (const row of rows) await settleTogether([row]).catch((cause: unknown) => lost(row.requestId, cause))
    }
    return answers
  }

  function lost(requestId: string, err: unknown): void {
    log.error({ err, requestId }, 'a settlement could not be written')
  }

  async function settleTogether(rows: readonly Waiting[]): Promise<void> {
    for (const delayMs of retryDelaysMs) {
      try {
        return await writeNow(rows)
      } catch (err) {
        if (!isPassing(err)) throw err
        log.warn({ err, rows: rows.length, delayMs }, 'settling failed, it is tried again')
        await new Promise<void>((resolve) => {
          clock.after(delayMs, resolve)
        })
      }
    }
    await writeNow(rows)
  }

  async function writeNow(rows: readonly Waiting[]): Promise<void> {
    const unwritten = choices.unwritten(rows)
    await write(sql, rows, unwritten, clock.nowMs())
    choices.written(unwritten)
  }

  return {
    settle(settlement) {
      try {
        settlements.post(waitingOf(settlement))
      } catch (err) {
        lost(settlement.row.requestId, err)
      }
    },
    drain: () => settlements.drain(),
  }
}

/** Nobody waits for one. */
const answers: readonly undefined[] = []

function waitingOf(settlement: Settlement): Waiting {
  const { choice, use, status } = settlement
  const { requestId, organizationId, attempts } = settlement.row
  const row = JSON.stringify(rowOf(settlement))
  const earlier = attempts.length < 2 ? '' : JSON.stringify(earlierOf(settlement)).slice(1, -1)
  return { requestId, organizationId, choice, use, hasFailed: status === 'failed', row, earlier }
}

/** What a row of a batch holds, in the order of `rowOf`: names are said once and not with each row. */
const rowColumns = Object.entries({
  requestId: 'text',
  attemptId: 'text',
  organizationId: 'text',
  keyId: 'text',
  operation: 'text',
  stage: 'text',
  provider: 'text',
  model: 'text',
  outcome: 'text',
  startedAtMs: 'double precision',
  durationMs: 'double precision',
  firstByteMs: 'double precision',
  quantities: 'jsonb',
  costMicroUsd: 'numeric',
  choiceId: 'text',
  number: 'smallint',
  attemptOutcome: 'text',
  attemptStartedAtMs: 'double precision',
  attemptDurationMs: 'double precision',
  attemptFirstByteMs: 'double precision',
  priceSource: 'text',
  keySource: 'text',
})
const readRow = rowColumns
  .map(([name, type], at) => (type === 'jsonb' ? `r->${at} as "${name}"` : `(r->>${at})::${type} as "${name}"`))
  .join(', ')

/**
 * A request with its last attempt: they share provider, model, quantities and cost, and nearly always there is only this one attempt, so that one
 * row for both is what the batch costs. `number` counts the attempts.
 */
function rowOf({ row, choice }: Settlement): readonly unknown[] {
  const last = row.attempts.at(-1)
  return [
    row.requestId,
    row.attemptId,
    row.organizationId,
    row.keyId,
    row.operation,
    row.stage,
    row.provider,
    row.model,
    row.outcome,
    row.startedAtMs,
    row.durationMs,
    row.firstByteMs,
    row.quantities,
    row.costMicroUsd,
    choice.record.id,
    row.attempts.length,
    last?.outcome,
    last?.startedAtMs,
    last?.durationMs,
    last?.firstByteMs,
    last?.priceSource,
    last?.keySource,
  ]
}

type EarlierAttempt = LedgerAttempt & { organizationId: string; requestId: string; number: number }

/** Those before the last one. */
function earlierOf({ row: { organizationId, requestId, attempts } }: Settlement): readonly EarlierAttempt[] {
  return attempts.slice(0, -1).map((attempt, index) => ({ ...attempt, organizationId, requestId, number: index + 1 }))
}

/** One text for the batch. */
const jsonOf = (rows: readonly string[]) => `[${rows.filter((row) => row !== '').join(',')}]`

/**
 * Ends keys, writes rows and moves credit, all or nothing. It may run twice, when the answer to the first was lost: a row that stands already is
 * not written, a cost is taken only for a row that was, and what is given back is what a reservation still held, not what the caller says.
 */
async function write(
  sql: Sql,
  settlements: readonly Waiting[],
  choices: readonly ChoiceRow[],
  nowMs: number,
): Promise<void> {
  const uses = settlements.flatMap(({ use }) => use ?? [])
  const failed = settlements.flatMap(({ use, hasFailed }) => (use && hasFailed ? use.requestId : []))
  await sql`
    with entry as materialized (
      select ${sql.unsafe(readRow)} from jsonb_array_elements(${jsonOf(settlements.map(({ row }) => row))}::text::jsonb) as r
    ), ended as (
      update idempotency_keys k set finished_at = ${new Date(nowMs)},
        status = case when k.request_id = any(${arrayLiteral(failed)}::text[]) then 'failed' else 'succeeded' end
      where ${ofUses(sql, uses)} and ${ownedBy(sql, uses)} and k.status = 'dispatched'
    ), written as (
      insert into requests (organization_id, request_id, stage, started_at, attempt_id, key_id, operation, provider, model,
        outcome, duration_ms, first_byte_ms, quantities, cost_micro_usd, choice_id)
      select "organizationId", "requestId", stage, to_timestamp("startedAtMs" / 1000), "attemptId", "keyId", operation,
        provider, model, outcome, "durationMs", "firstByteMs", quantities, ceil("costMicroUsd")::bigint, "choiceId"
      from entry
      on conflict do nothing
      returning organization_id, cost_micro_usd
    ), attempted as (
      insert into attempts (organization_id, request_id, number, attempt_id, provider, model, outcome, started_at,
        duration_ms, first_byte_ms, quantities, cost_micro_usd, price_source, key_source)
      select "organizationId", "requestId", number, "attemptId", provider, model, "attemptOutcome",
        to_timestamp("attemptStartedAtMs" / 1000), "attemptDurationMs", "attemptFirstByteMs", quantities,
        ceil("costMicroUsd")::bigint, "priceSource", "keySource"
      from entry where number > 0
      union all
      select "organizationId", "requestId", number, "attemptId", provider, model, outcome,
        to_timestamp("startedAtMs" / 1000), "durationMs", "firstByteMs", quantities, ceil("costMicroUsd")::bigint,
        "priceSource", "keySource"
      from json_to_recordset(${jsonOf(settlements.map(({ earlier }) => earlier))}::text::json) as a
        ("organizationId" text, "requestId" text, number smallint, "attemptId" text, provider text, model text, outcome text,
         "startedAtMs" double precision, "durationMs" double precision, "firstByteMs" double precision, quantities jsonb,
         "costMicroUsd" numeric, "priceSource" text, "keySource" text)
      on conflict do nothing
    ), explained as (
      insert into choices (organization_id, id, explanation, seen_at)
      select "organizationId", id, text::json, ${new Date(nowMs)}
      from json_to_recordset(${sql.json([...choices])}::json) as c ("organizationId" text, id text, text text)
      on conflict (organization_id, id) do update set seen_at = excluded.seen_at
    ), given_back as (
      delete from reservations r using entry e
      where r.organization_id = e."organizationId" and r.request_id = e."requestId"
      returning r.organization_id, r.micro_usd
    ), moved as (
      select organization_id, sum(micro_usd)::bigint as micro_usd from (
        select organization_id, micro_usd from given_back
        union all
        select organization_id, -cost_micro_usd from written where cost_micro_usd > 0
      ) m
      group by organization_id having sum(micro_usd) <> 0
      order by organization_id
    )
    update organizations o set credit_micro_usd = o.credit_micro_usd + m.micro_usd
    from moved m where o.id = m.organization_id`
}
