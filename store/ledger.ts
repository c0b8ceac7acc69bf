import type { Ledger, Settlement } from '../domain/billing/ledger.ts'
import type { Clock, Log } from '../domain/ports.ts'
import { type BatchLimits, createBatcher } from './batch.ts'
import type { Sql } from './connect.ts'
import { arrayLiteral, ofUses, ownedBy } from './key-match.ts'
import { isPassing } from './unavailable.ts'

/** Nobody waits for a settlement: it is gathered also when it comes alone, and stays out of the way of the next request. */
const batches: BatchLimits = { rowsMax: 256, inFlightMax: 1, gatherMs: 10, loneMs: 10, queueMax: 50_000 }
/** Together about 15 s: what was done has been done, so a settlement outlasts a restart of Postgres. */
const retryDelaysMs = [100, 200, 500, 1_000, 2_000, 4_000, 8_000]

export type StoredLedger = Ledger & { drain(): Promise<void> }

export function createLedger(sql: Sql, clock: Clock, log: Log): StoredLedger {
  const settlements = createBatcher(settleAll, batches)

  async function settleAll(rows: readonly Settlement[]): Promise<undefined[]> {
    try {
      await settleTogether(rows)
    } catch (err) {
      if (rows.length === 1 || isPassing(err)) throw err
      // One row that Postgres refuses must not take the others with it.
      for (const row of rows) await settleTogether([row]).catch((cause: unknown) => refused(row, cause))
    }
    return rows.map(() => undefined)
  }

  function refused({ entry: { requestId } }: Settlement, err: unknown): void {
    log.error({ err, requestId }, 'a settlement was refused')
  }

  async function settleTogether(rows: readonly Settlement[]): Promise<void> {
    for (const delayMs of retryDelaysMs) {
      try {
        return await write(sql, rows, clock.nowMs())
      } catch (err) {
        if (!isPassing(err)) throw err
        log.warn({ err, rows: rows.length, delayMs }, 'settling failed, it is tried again')
        await new Promise<void>((resolve) => {
          clock.after(delayMs, resolve)
        })
      }
    }
    await write(sql, rows, clock.nowMs())
  }

  return { settle: (settlement) => settlements.add(settlement), drain: () => settlements.drain() }
}

/**
 * Ends keys, writes rows and moves credit, all or nothing. It may run twice, when the answer to the first was lost: a row that stands already is
 * not written, a cost is taken only for a row that was, and what is given back is what a reservation still held, not what the caller says.
 */
async function write(sql: Sql, settlements: readonly Settlement[], nowMs: number): Promise<void> {
  const entries = settlements.map(({ entry }) => entry)
  const uses = settlements.flatMap(({ use }) => use ?? [])
  const failed = settlements.flatMap(({ use, status }) => (use && status === 'failed' ? use.requestId : []))
  await sql`
    with entry as materialized (
      select * from json_to_recordset(${sql.json(entries)}::json) as e
        ("requestId" text, "attemptId" text, "organizationId" text, "keyId" text, operation text, stage text, provider text,
         model text, outcome text, "startedAtMs" double precision, "durationMs" double precision,
         "firstByteMs" double precision, quantities jsonb, "costMicroUsd" numeric)
    ), ended as (
      update idempotency_keys k set finished_at = ${new Date(nowMs)},
        status = case when k.request_id = any(${arrayLiteral(failed)}::text[]) then 'failed' else 'succeeded' end
      where ${ofUses(sql, uses)} and ${ownedBy(sql, uses)} and k.status = 'dispatched'
    ), written as (
      insert into requests (organization_id, request_id, stage, started_at, attempt_id, key_id, operation, provider, model,
        outcome, duration_ms, first_byte_ms, quantities, cost_micro_usd)
      select "organizationId", "requestId", stage, to_timestamp("startedAtMs" / 1000), "attemptId", "keyId", operation,
        provider, model, outcome, "durationMs", "firstByteMs", quantities, ceil("costMicroUsd")::bigint
      from entry
      on conflict do nothing
      returning organization_id, cost_micro_usd
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
