import type { StoredAnswer, StoredAnswers } from '../../domain/idempotency/stored-answers.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Sql } from '../postgres/connect.ts'
import { inTime } from '../postgres/outage.ts'
import { ofUses, ownedBy } from './key-match.ts'

/** Answers from this status on are refusals and not successes. */
const refusalLeast = 400

/** Stores answers in the rows of their idempotency keys. They are deleted with these rows. */
export function createStoredAnswers(sql: Sql, clock: Clock): StoredAnswers {
  return {
    async keep(use, { status, body }) {
      await inTime(
        sql,
        async () => sql`
        update idempotency_keys k set status = ${status < refusalLeast ? 'succeeded' : 'failed'},
          finished_at = ${new Date(clock.nowMs())}, answer_status = ${status}, answer_body = ${body}
        where ${ofUses(sql, [use])} and ${ownedBy(sql, [use])} and k.status = 'dispatched'`,
      )
    },
    async find(use) {
      const [row] = await inTime(
        sql,
        async () => sql<StoredAnswer[]>`
        select answer_status as status, answer_body as body from idempotency_keys k
        where ${ofUses(sql, [use])} and k.answer_status is not null`,
      )
      return row ?? null
    },
  }
}
