import { createHash } from 'node:crypto'
import type { KeyBudget } from '../../domain/billing/budget.ts'
import type { Ledger, Settlement } from '../../domain/billing/ledger.ts'
import type { KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { type BatchLimits, createBatcher } from '../postgres/batch.ts'
import type { Sql } from '../postgres/connect.ts'
import { guard } from '../postgres/outage.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import { isOfRow, isPassing, reasonOf } from '../postgres/unavailable.ts'
import type { ChoiceRow, Choices } from './choices.ts'
import { addToDay } from './credit-movements.ts'
import { countForKeys } from './key-budgets.ts'
import { ofUses, ownedBy } from './key-match.ts'
import { earlierRowsOf, ledgerSql, rowOf } from './ledger-rows.ts'
import { type JournalRow, SettlementJournal } from './settlement-journal.ts'
import { createReplay, type SettlementReplay } from './settlement-replay.ts'

/**
 * No request waits for its settlement (the last write, with its usage and cost). So even a single settlement waits 10
 * ms for other settlements to share its statement, because each statement takes CPU time from requests.
 */
const batches: BatchLimits = { rowsMax: 256, gatherMs: 10, idleGatherMs: 10, queueMax: 50_000 }
/**
 * The pauses between tries, together about 15 s. They apply to a settlement that could not even be written to the local
 * disk.
 */
const retryDelaysMs = [100, 200, 500, 1_000, 2_000, 4_000, 8_000]

/**
 * A settlement in the queue for a batch. It outlives its request by tens of milliseconds, thousands of times a second.
 * So its rows become text at once: a text is one object for the garbage collector, while a settlement is thirty objects
 * and would be moved repeatedly.
 */
type Waiting = JournalRow<{
  requestId: string
  use: KeyUse | undefined
  hasFailed: boolean
  /** The request with its last attempt, as JSON. */
  row: string
  /** The attempts before the last one, as JSON items, or ''. */
  earlier: string
  /** The key's budget as JSON, or '' if the key has no budget. */
  budget: string
}>

/**
 * `drain` resolves when all settlements are written, or are on the local disk. `waiting` counts unwritten settlements.
 * `journalBytes` is the size of the settlements on the local disk.
 */
export type StoredLedger = Ledger & { drain(): Promise<void>; waiting(): number; journalBytes(): number }

export type LedgerDeps = {
  sql: Sql
  clock: Clock
  log: Log
  choices: Choices
  dataDir: string
  instanceId: string
  journalBytesMax: number
  /** Stores idempotency keys that a killed database has lost. */
  restoreKeys: (uses: readonly KeyUse[]) => Promise<void>
}

export function createLedger(deps: LedgerDeps): SettlementReplay & { ledger: StoredLedger } {
  const { sql, clock, log, dataDir, instanceId, journalBytesMax: bytesMax, restoreKeys } = deps
  const columns = createHash('sha256').update(ledgerSql.entry).digest('hex').slice(0, 12)
  const journal = new SettlementJournal<Waiting>({ dataDir, instanceId, columns, bytesMax, log })
  const { lost, writeEach, writeWithRetries } = createWriter(deps, journal)
  const settlements = createBatcher(writeOrKeep, batches)

  async function writeOrKeep(batch: readonly Waiting[]): Promise<readonly undefined[]> {
    await writeEach(batch, keep)
    return answers
  }

  async function keep(batch: readonly Waiting[], reason: unknown): Promise<void> {
    try {
      await journal.append(batch)
    } catch (err) {
      log.error({ err, reason }, 'settlements cannot be written to the data folder')
      await writeWithRetries(batch).catch((cause: unknown) => {
        for (const { requestId } of batch) lost(requestId, cause)
      })
    }
  }

  const ledger: StoredLedger = {
    hasRoom: () => journal.hasRoom,
    settle(settlement) {
      try {
        settlements.post(waitingOf(settlement))
      } catch (err) {
        lost(settlement.row.requestId, err)
      }
    },
    drain: () => settlements.drain(),
    waiting: () => settlements.waiting() + journal.rows,
    journalBytes: () => journal.bytes,
  }
  async function rewrite(rows: readonly Waiting[]): Promise<void> {
    await restoreEach(rows.flatMap(({ use }) => use ?? []))
    await writeEach(rows, null)
  }
  /** If the database refuses a key, the others are restored one by one, and the settlements are still written. */
  async function restoreEach(uses: readonly KeyUse[]): Promise<void> {
    try {
      await guard(sql, { run: () => restoreKeys(uses) })
    } catch (err) {
      if (!isOfRow(err)) throw err
      const [{ requestId } = { requestId: '' }] = uses
      if (uses.length > 1) for (const use of uses) await restoreEach([use])
      else log.error({ requestId, code: reasonOf(err) }, 'the database refuses an idempotency key: it is not restored')
    }
  }
  return { ledger, ...createReplay(sql, clock, journal, rewrite) }
}

function createWriter({ sql, clock, log, choices }: LedgerDeps, journal: SettlementJournal<Waiting>) {
  /**
   * Writes the rows. If the database cannot store the rows now, `refused` receives them. If `refused` is null, the
   * promise rejects.
   */
  async function writeEach(
    batch: readonly Waiting[],
    refused: ((rows: readonly Waiting[], err: unknown) => Promise<void>) | null,
  ): Promise<void> {
    try {
      await write(batch)
    } catch (err) {
      const isOfOne = isOfRow(err)
      if (!isOfOne && refused === null) throw err
      // Postgres may have refused only one row. So the rows are written one by one, and only the bad row is set aside.
      if (!isOfOne) await refused?.(batch, err)
      else if (batch.length === 1) for (const one of batch) await setAside(one, err)
      else for (const one of batch) await writeEach([one], refused)
    }
  }

  async function writeWithRetries(batch: readonly Waiting[]): Promise<void> {
    for (const delayMs of retryDelaysMs) {
      try {
        return await writeEach(batch, null)
      } catch (err) {
        if (!isPassing(err)) throw err
        log.warn({ err, rows: batch.length, delayMs }, 'settling failed, it is tried again')
        await new Promise<void>((resolve) => {
          clock.after(delayMs, resolve)
        })
      }
    }
    await writeEach(batch, null)
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    const newChoices = choices.unwritten(batch)
    await guard(sql, { run: () => insertAll(sql, batch, newChoices, clock.nowMs()) })
    choices.remember(newChoices)
  }

  async function setAside(row: Waiting, err: unknown): Promise<void> {
    const { requestId } = row
    log.error({ requestId, code: reasonOf(err) }, 'the database refuses a settlement: it is in settlements/refused')
    await journal.setAside(row).catch((cause: unknown) => lost(requestId, cause))
  }

  function lost(requestId: string, err: unknown): void {
    log.error({ err, requestId }, 'a settlement could not be written')
  }

  return { lost, writeEach, writeWithRetries }
}

/** The batcher requires one result for each row, but no code reads the results of settlements. */
const answers: readonly undefined[] = []

function waitingOf(settlement: Settlement): Waiting {
  const { use, status } = settlement
  const { id, text } = settlement.choice.record
  const { requestId, organizationId, attempts } = settlement.row
  const row = JSON.stringify(rowOf(settlement))
  const earlier = attempts.length < 2 ? '' : JSON.stringify(earlierRowsOf(settlement)).slice(1, -1)
  const budget = settlement.budget === undefined ? '' : budgetRowOf(settlement.budget, settlement.row)
  return { requestId, organizationId, choice: { id, text }, use, hasFailed: status === 'failed', row, earlier, budget }
}

function budgetRowOf({ keyId, period, microUsd }: KeyBudget, row: Settlement['row']): string {
  return JSON.stringify([row.organizationId, row.requestId, keyId, period, microUsd])
}

/** Joins the batch's JSON strings to one JSON array. */
const jsonOf = (rows: readonly string[]) => `[${rows.filter((row) => row !== '').join(',')}]`

/**
 * Ends idempotency keys, writes rows and moves credit, all or nothing. If the database's reply to the first run is
 * lost, the statement runs again, and nothing counts twice: an existing row is not written again, only a new row takes
 * its cost, and only an existing reservation is given back. Postgres runs the table expression `noted` after the main
 * statement, because no other expression reads it. So each transaction locks the credit before its movements. The
 * commit waits for the disk, because after it this process forgets the settlements.
 */
async function insertAll(
  sql: Sql,
  batch: readonly Waiting[],
  choices: readonly ChoiceRow[],
  nowMs: number,
): Promise<void> {
  const uses = batch.flatMap(({ use }) => use ?? [])
  const failed = batch.flatMap(({ use, hasFailed }) => (use && hasFailed ? use.requestId : []))
  // If no key in the batch has a budget, the statement omits the table expressions for budgets.
  const budgets = batch.some(({ budget }) => budget !== '') ? batch.map(({ budget }) => budget) : null
  const text = (part: keyof typeof ledgerSql) => sql.unsafe(ledgerSql[part])
  await sql`
    with entry as materialized (
      select ${text('entry')} from (select set_config('synchronous_commit', 'on', true) offset 0) durable,
        jsonb_array_elements(${jsonOf(batch.map(({ row }) => row))}::text::jsonb) as r
    ), ended as (
      update idempotency_keys k set finished_at = ${new Date(nowMs)},
        status = case when k.request_id = any(${arrayLiteral(failed)}::text[]) then 'failed' else 'succeeded' end
      where ${ofUses(sql, uses)} and ${ownedBy(sql, uses)} and k.status = 'dispatched'
    ), written as (
      insert into requests (${text('requestColumns')}) select ${text('requestColumns')} from entry
      on conflict do nothing
      returning organization_id, request_id, cost_micro_usd
    ), attempted as (
      insert into attempts (${text('attemptColumns')})
      select ${text('lastAttempt')} from entry where ${text('hasAttempt')}
      union all
      select ${text('earlierAttempt')}
      from jsonb_array_elements(${jsonOf(batch.map(({ earlier }) => earlier))}::text::jsonb) as r
      on conflict do nothing
    ), explained as (
      insert into choices (organization_id, id, explanation, seen_at)
      select "organizationId", id, text::json, ${new Date(nowMs)}
      from json_to_recordset(${sql.json([...choices])}::json) as c ("organizationId" text, id text, text text)
      on conflict (organization_id, id) do update set seen_at = excluded.seen_at
    ), given_back as (
      delete from reservations r using entry e
      where r.organization_id = e.organization_id and r.request_id = e.request_id
      returning r.organization_id, r.micro_usd, r.key_id, r.period
    ), spent as (
      select organization_id, -sum(cost_micro_usd)::bigint as micro_usd from written where cost_micro_usd > 0
      group by organization_id order by organization_id
    ), noted as (
      ${addToDay(sql, 'requests', new Date(nowMs))}
    ), ${budgets === null ? sql`` : sql`${countBudgets(sql, jsonOf(budgets), new Date(nowMs))},`}
    moved as (
      select organization_id, sum(micro_usd)::bigint as micro_usd from (
        select organization_id, micro_usd from given_back
        union all
        select organization_id, micro_usd from spent
      ) m
      group by organization_id
      ${budgets === null ? sql`having sum(micro_usd) <> 0` : sql``}
      order by organization_id
    )
    update organizations o set credit_micro_usd = o.credit_micro_usd + m.micro_usd
    from moved m where o.id = m.organization_id`
}

/**
 * Releases the reserved amounts from the budgets and adds the costs to their spending. If a row was written, its cost
 * counts, even if its reservation was given back before.
 */
function countBudgets(sql: Sql, rows: string, now: Date) {
  return sql`
    budgeted as materialized (
      select r->>0 as organization_id, r->>1 as request_id, r->>2 as key_id, r->>3 as period, (r->>4)::bigint as budget
      from jsonb_array_elements(${rows}::text::jsonb) as r
    ), of_keys as materialized (
      select organization_id, key_id, period, sum(spent)::bigint as spent, sum(released)::bigint as released,
        min(budget) as budget
      from (
        select b.organization_id, b.key_id, b.period, w.cost_micro_usd as spent, 0 as released, b.budget
        from written w join budgeted b using (organization_id, request_id) where w.cost_micro_usd > 0
        union all
        select organization_id, key_id, period, 0, micro_usd, null from given_back where key_id is not null
      ) m
      group by organization_id, key_id, period order by organization_id, key_id, period
    ), ${countForKeys(sql, 'of_keys', now)}`
}
