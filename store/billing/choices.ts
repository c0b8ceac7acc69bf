/** The explanations of routing choices. Each distinct one is stored once, by the process that meets it first. */
import type { Clock } from '../../domain/ports/system.ts'
import type { Choice } from '../../domain/routing/choice.ts'
import { createLru } from '../caches/lru.ts'
import type { Sql } from '../postgres/connect.ts'

export type ChoiceRow = { organizationId: string; id: string; text: string }

/** A request and the choice that routed it. */
type Chosen = { organizationId: string; choice: Choice }

export type Choices = {
  /** The choices that this process has not written recently. */
  unwritten(requests: readonly Chosen[]): ChoiceRow[]
  /** Notes that these rows are written. */
  remember(rows: readonly ChoiceRow[]): void
  /** Deletes choices that no request used for `keptMs`. */
  reap(): Promise<void>
}

/** How many are remembered as written. One that is forgotten is written again, which changes nothing. */
const writtenMax = 10_000
/** After this a choice that is still in use is written again, so that it is not deleted. */
const rewriteMs = 3_600_000
const reapRowsMax = 1_000
const reapRoundsMax = 50

export function createChoices(sql: Sql, clock: Clock, keptMs: number): Choices {
  const writtenAtMs = createLru<number>(writtenMax)

  return {
    unwritten(requests) {
      const leastMs = clock.nowMs() - rewriteMs
      const found = new Map<string, ChoiceRow>()
      for (const { organizationId, choice } of requests) {
        const { id, text } = choice.record
        const key = keyOf({ organizationId, id })
        if (!found.has(key) && (writtenAtMs.get(key) ?? 0) <= leastMs) found.set(key, { organizationId, id, text })
      }
      // Every statement takes its rows in one order. Otherwise two statements could wait for each other.
      return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    },
    remember(rows) {
      const nowMs = clock.nowMs()
      for (const row of rows) writtenAtMs.set(keyOf(row), nowMs)
    },
    reap: () => reapChoices(sql, new Date(clock.nowMs() - keptMs)),
  }
}

const keyOf = ({ organizationId, id }: Omit<ChoiceRow, 'text'>) => `${organizationId} ${id}`

/**
 * Deletes in small rounds, so that no lock is held for long. Rows that another process has locked are left for the
 * next run.
 */
async function reapChoices(sql: Sql, before: Date): Promise<void> {
  for (let round = 0; round < reapRoundsMax; round += 1) {
    const { count } = await sql`
      delete from choices where ctid = any (array(
        select ctid from choices where seen_at < ${before} order by seen_at limit ${reapRowsMax} for update skip locked))`
    if (count < reapRowsMax) return
  }
}
