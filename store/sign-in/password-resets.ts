/** Stores password-reset links by their token's digest. */
import type { Person } from '../../domain/access/sign-in/people.ts'
import type { ResetStore } from '../../domain/access/sign-in/resets.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { endCredentials, type Forget } from '../access/credentials.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { insertPassword } from './people.ts'
import { insertSignInEvents } from './sign-in-events.ts'

export function createPasswordResets(tenancy: Tenancy, forget: Forget): ResetStore {
  return {
    insert: (email, digest, now, expiresAt, openMax) =>
      tenancy.asOperator(async (tx) => {
        // The lock is needed because parallel requests would pass the limit together.
        const [person] = await tx<{ id: string }[]>`select id from users where email = ${email} for no key update`
        if (!person) return false
        const inserted = await tx`
          insert into password_resets (digest, user_id, created_at, expires_at)
          select ${digest}, ${person.id}, ${now}, ${expiresAt}
          where ${openMax ?? null}::int is null or ${openMax ?? null}::int > (
            select count(*) from password_resets where user_id = ${person.id} and expires_at > ${now})
          returning user_id`
        return inserted.length > 0
      }),
    find: (digest, now) =>
      tenancy.asOperator(async (tx) => {
        const [person] = await tx<Person[]>`
          select u.id, u.email, u.name from password_resets r join users u on u.id = r.user_id
          where r.digest = ${digest} and r.expires_at > ${now}`
        return person ?? null
      }),
    async use(digest, passwordHash, now, browser) {
      const ended = await tenancy.asOperator(async (tx) => {
        const [used] = await tx<{ userId: string }[]>`
          delete from password_resets where digest = ${digest} and expires_at > ${now} returning user_id as "userId"`
        if (!used) return null
        await setPassword(tx, used.userId, passwordHash, now)
        const event = { action: 'user.password_reset', userId: used.userId, organizationIds: null, browser } as const
        await insertSignInEvents(tx, event, now)
        return endCredentials(tx, used.userId)
      })
      for (const lookup of ended?.lookups ?? []) forget({ lookup })
      return ended !== null
    },
  }
}

/**
 * Sets the person's password, even if the person has no password yet, and invalidates the person's other password-reset
 * links.
 */
async function setPassword(tx: Tx, userId: string, passwordHash: string, now: Date): Promise<void> {
  await tx`delete from password_resets where user_id = ${userId}`
  const changed = await tx`
    update identities set password_hash = ${passwordHash}, changed_at = ${now}
    where user_id = ${userId} and kind = 'password' returning id`
  if (changed.length === 0) await insertPassword(tx, userId, passwordHash, now)
}

export async function sweepResets(system: Sql, clock: Clock): Promise<void> {
  await system`delete from password_resets where expires_at < ${new Date(clock.nowMs())}`
}
