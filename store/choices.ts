/** Why requests went where they went: each distinct explanation once, written by whichever process meets it first. */
import type { Clock } from '../domain/ports/system.ts'
import type { Choice } from '../domain/routing/choice.ts'
import type { Sql } from './connect.ts'
import { createLru } from './lru.ts'

export type ChoiceRow = { organizationId: string; id: string; text: string }

/** Whose request went by which choice. */
type Chosen = { organizationId: string; choice: Choice }

export type Choices = {
  /** Those that this process has not written lately. */
  unwritten(requests: readonly Chosen[]): ChoiceRow[]
  /** Notes that these are written. */
  remember(rows: readonly ChoiceRow[]): void
  /** Deletes those that no request was routed by for so long. */
  reap(): Promise<void>
}

/** Remembered as written; what is forgotten is written again, which changes nothing. */
const writtenMax = 10_000
/** One that is still in use is written again after so long, so that it is not reaped. */
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
      // One order for every statement: two of them could otherwise wait for each other.
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

/** Small rounds, so that no lock is held for long; rows that somebody else has locked are left for the next time. */
async function reapChoices(sql: Sql, before: Date): Promise<void> {
  for (let round = 0; round < reapRoundsMax; round += 1) {
    const { count } = await sql`
      delete from choices where ctid = any (array(
        select ctid from choices where seen_at < ${before} order by seen_at limit ${reapRowsMax} for update skip locked))`
    if (count < reapRowsMax) return
  }
}
