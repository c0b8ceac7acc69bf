/** Writes settlements from the local disk into the database, when it can take them again. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Sql } from '../postgres/connect.ts'
import { createDiskCheck } from '../postgres/disk-check.ts'
import { guard, isAway, onReturn } from '../postgres/outage.ts'
import { arrayLiteral } from '../postgres/row-values.ts'
import { isPassing } from '../postgres/unavailable.ts'
import type { JournalRow, SettlementJournal } from './settlement-journal.ts'

export type SettlementReplay = {
  /** Writes this process's settlements. Resolves if the database cannot take them yet. */
  replay: () => Promise<void>
  /** Writes the settlements of processes that have ended. */
  adopt: () => Promise<void>
}

/** `write` rejects if the database cannot take the rows. */
export function createReplay<Row>(
  sql: Sql,
  clock: Clock,
  journal: SettlementJournal<Row>,
  write: (rows: readonly JournalRow<Row>[]) => Promise<void>,
): SettlementReplay {
  const checkDisk = createDiskCheck(sql)
  let running: Promise<void> | null = null

  async function replayOnce(): Promise<void> {
    try {
      if (isAway(sql)) return
      await journal.repair(checkDisk)
      await journal.replay(write)
    } catch (err) {
      if (!isPassing(err)) throw err
    }
  }

  /**
   * Writes rows only if this database has their organizations: the data folder may have been used with another
   * database.
   */
  async function writeKnown(rows: readonly JournalRow<Row>[]): Promise<void> {
    const ids = [...new Set(rows.map(({ organizationId }) => organizationId))]
    const { count } = await guard(sql, {
      run: async () => sql`select from organizations where id = any(${arrayLiteral(ids)}::text[])`,
    })
    if (count < ids.length) throw new Error('the data folder has settlements of another database')
    await write(rows)
  }

  const replay = () =>
    (running ??= replayOnce().finally(() => {
      running = null
    }))
  // If the replay fails, the loop tries again and logs the failure.
  onReturn(sql, () => void replay().catch(() => {}))
  return { replay, adopt: () => journal.adopt((id) => isLive(sql, id, clock.nowMs()), writeKnown) }
}

async function isLive(sql: Sql, instanceId: string, nowMs: number): Promise<boolean> {
  const { count } = await guard(sql, {
    run: async () => sql`select from instances where id = ${instanceId} and alive_until > ${new Date(nowMs)}`,
  })
  return count > 0
}
