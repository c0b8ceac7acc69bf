/** Stores counted attempts by subject, for example sign-ins by account and by IP address. */
import type { AttemptStore, Attempts, Subject } from '../../domain/access/attempts.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'

type Row = { subject: string; failures: number; firstAt: Date; lastAt: Date; blockedUntil: Date }

const keptMs = 24 * 3_600_000

export function createAttempts(tenancy: Tenancy): AttemptStore {
  return {
    admit: (subjects, nowMs) =>
      tenancy.asOperator(async (tx) => {
        const before = await lockSubjects(tx, subjects, new Date(nowMs))
        const blockedMs = Math.max(0, ...subjects.map(({ text }) => before.get(text)?.blockedUntilMs ?? 0))
        if (blockedMs > nowMs) return blockedMs
        for (const { text, count } of subjects) {
          const known = before.get(text) ?? null
          await write(tx, text, count(known?.failures === 0 ? null : known, nowMs))
        }
        return null
      }),
    succeed: (account, others) =>
      tenancy.asOperator(async (tx) => {
        for (const { text } of sorted([account, ...others]))
          if (text === account.text) await tx`delete from sign_in_failures where subject = ${text}`
          else await subtractAttempt(tx, text)
      }),
    refund: (subjects) =>
      tenancy.asOperator(async (tx) => {
        for (const { text } of sorted(subjects)) await subtractAttempt(tx, text)
      }),
  }
}

/** All transactions lock the subjects in the same order, so no two of them wait for each other. */
const sorted = (subjects: readonly Subject[]) => [...subjects].sort((a, b) => (a.text < b.text ? -1 : 1))

/** Makes missing rows and locks all rows of the subjects, so parallel attempts are counted one after another. */
async function lockSubjects(tx: Tx, subjects: readonly Subject[], now: Date): Promise<Map<string, Attempts>> {
  const locked = new Map<string, Attempts>()
  for (const { text } of sorted(subjects)) {
    await tx`
      insert into sign_in_failures (subject, failures, first_at, last_at, blocked_until)
      values (${text}, 0, ${now}, ${now}, ${now}) on conflict do nothing`
    const [row] = await tx<Row[]>`
      select subject, failures, first_at as "firstAt", last_at as "lastAt", blocked_until as "blockedUntil"
      from sign_in_failures where subject = ${text} for update`
    if (row) locked.set(text, attemptsOf(row))
  }
  return locked
}

function attemptsOf({ failures, firstAt, lastAt, blockedUntil }: Row): Attempts {
  return {
    failures,
    firstMs: firstAt.getTime(),
    lastMs: lastAt.getTime(),
    blockedUntilMs: blockedUntil.getTime(),
  }
}

async function write(tx: Tx, subject: string, { failures, firstMs, lastMs, blockedUntilMs }: Attempts): Promise<void> {
  await tx`
    update sign_in_failures set failures = ${failures}, first_at = ${new Date(firstMs)}, last_at = ${new Date(lastMs)},
      blocked_until = ${new Date(blockedUntilMs)}
    where subject = ${subject}`
}

/** The attempt may have been the last allowed attempt, and it was no failure. So the wait ends too. */
async function subtractAttempt(tx: Tx, subject: string): Promise<void> {
  await tx`
    update sign_in_failures set failures = greatest(failures - 1, 0), blocked_until = first_at
    where subject = ${subject}`
}

/** Deletes subjects without an attempt in the last day. */
export async function sweepAttempts(system: Sql, clock: Clock): Promise<void> {
  await system`delete from sign_in_failures where last_at < ${new Date(clock.nowMs() - keptMs)}`
}
