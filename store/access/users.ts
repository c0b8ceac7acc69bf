/** Users, their roles, and hashes for their tokens and sessions. keys.ts checks tokens and sessions like API keys. */
import {
  credentialLifeMs,
  credentialPrefix,
  type IssuedCredential,
  type User,
  type Users,
} from '../../domain/access/users.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { newCredential } from './key-secret.ts'

/** The most users in a list. No organization has nearly as many. */
const listedMax = 10_000

export function createUsers(tenancy: Tenancy, clock: Clock): Users {
  const now = () => new Date(clock.nowMs())
  return {
    create: (organizationId, email, role) =>
      tenancy.asOperator(async (tx) => {
        await tx`
          insert into users (id, email, created_at) values (${`usr_${uniqueId()}`}, ${addressOf(email)}, ${now()})
          on conflict (email) do nothing`
        const [user] = await tx<User[]>`
          insert into user_roles (organization_id, user_id, role, created_at)
          select o.id, u.id, ${role}, ${now()} from organizations o, users u
          where o.id = ${organizationId} and u.email = ${addressOf(email)}
          on conflict (organization_id, user_id) do update set role = excluded.role
          returning user_id as id, organization_id as "organizationId", role`
        // The user may have had another role, and cached callers contain its scopes. So the caches must forget them.
        if (user) await notifyKeyChange(tx, { organizationId })
        return user ? { ...user, email: addressOf(email) } : null
      }),
    issue: (organizationId, email, kind) =>
      tenancy.asOperator(async (tx) => {
        const { secret, lookup, digest } = newCredential(credentialPrefix[kind])
        const expiresAt = new Date(clock.nowMs() + credentialLifeMs[kind])
        const [issued] = await tx<Pick<IssuedCredential, 'expiresAt'>[]>`
          insert into user_credentials (organization_id, user_id, lookup, digest, created_at, expires_at)
          select r.organization_id, r.user_id, ${lookup}, ${digest}, ${now()}, ${expiresAt}
          from user_roles r join users u on u.id = r.user_id
          where r.organization_id = ${organizationId} and u.email = ${addressOf(email)}
          returning expires_at as "expiresAt"`
        return issued ? { secret, expiresAt: issued.expiresAt } : null
      }),
    list: (organizationId) =>
      tenancy.asOperator(
        (tx) => tx<User[]>`
          select u.id, u.email, r.organization_id as "organizationId", r.role
          from user_roles r join users u on u.id = r.user_id
          where r.organization_id = ${organizationId} order by u.email limit ${listedMax}`,
      ),
    remove: (organizationId, email) => tenancy.asOperator((tx) => removeRole(tx, organizationId, addressOf(email))),
  }
}

/** Removes a user's role. The user's tokens and sessions are deleted with it (on delete cascade). */
async function removeRole(tx: Tx, organizationId: string, email: string): Promise<boolean> {
  const removed = await tx`
    delete from user_roles r using users u
    where r.organization_id = ${organizationId} and u.id = r.user_id and u.email = ${email} returning r.user_id`
  if (removed.length > 0) await notifyKeyChange(tx, { organizationId })
  return removed.length > 0
}

/** Deletes expired tokens and sessions. */
export async function sweepCredentials(system: Sql, clock: Clock): Promise<void> {
  await system`delete from user_credentials where expires_at < ${new Date(clock.nowMs())}`
}

const addressOf = (email: string) => email.toLowerCase()
