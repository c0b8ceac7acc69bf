/** Stores the explanations of routing choices. Equal choices are stored once, by the first process to make them. */
import type { Clock } from '../../domain/ports/system.ts'
import { createLru } from '../caches/lru.ts'
import type { Sql } from '../postgres/connect.ts'

export type ChoiceRow = { organizationId: string; id: string; text: string }

/** A request and the choice that routed it. */
type Chosen = { organizationId: string; choice: { id: string; text: string | null } }

export type Choices = {
  /** Returns the choices in `requests`, without any that this process has written recently. */
  unwritten(requests: readonly Chosen[]): ChoiceRow[]
  /** Call this after these rows are written. */
  remember(rows: readonly ChoiceRow[]): void
  /** Deletes a choice if no request has used it for `retentionMs`. */
  reap(): Promise<void>
}

/** The number of remembered choices. If a choice is forgotten, it is written again, and this changes nothing. */
const writtenMax = 10_000
/**
 * If a choice is still in use after this time, it is written again. This renews its age, so that `reap` does not delete
 * it.
 */
const rewriteMs = 3_600_000
const reapRowsMax = 1_000
const reapRoundsMax = 50

export function createChoices(sql: Sql, clock: Clock, retentionMs: number): Choices {
  const writtenAtMs = createLru<number>(writtenMax)

  return {
    unwritten(requests) {
      const leastMs = clock.nowMs() - rewriteMs
      const rows = new Map<string, ChoiceRow>()
      for (const { organizationId, choice } of requests) {
        const { id, text } = choice
        if (text === null) continue
        const key = keyOf({ organizationId, id })
        if (!rows.has(key) && (writtenAtMs.get(key) ?? 0) <= leastMs) rows.set(key, { organizationId, id, text })
      }
      // Every statement takes its rows in the same order. Otherwise two statements could wait for each other.
      return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    },
    remember(rows) {
      const nowMs = clock.nowMs()
      for (const row of rows) writtenAtMs.set(keyOf(row), nowMs)
    },
    reap: () => reapChoices(sql, new Date(clock.nowMs() - retentionMs)),
  }
}

const keyOf = ({ organizationId, id }: Omit<ChoiceRow, 'text'>) => `${organizationId} ${id}`

/** Deletes in small rounds, so no lock is held for long. A row locked by another process is left for the next run. */
async function reapChoices(sql: Sql, before: Date): Promise<void> {
  for (let round = 0; round < reapRoundsMax; round += 1) {
    const { count } = await sql`
      delete from choices where ctid = any (array(
        select ctid from choices where seen_at < ${before} order by seen_at limit ${reapRowsMax} for update skip locked))`
    if (count < reapRowsMax) return
  }
}
