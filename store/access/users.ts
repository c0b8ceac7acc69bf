/** Users, their roles, and hashes for their tokens and sessions. keys.ts checks tokens and sessions like API keys. */
import {
  credentialLifeMs,
  credentialPrefix,
  type IssuedCredential,
  type User,
  type Users,
} from '../../domain/access/users.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { commandEvent } from '../../domain/records/audit.ts'
import type { Role } from '../../domain/records/organization.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import { insertAuditEvent } from '../postgres/audit-rows.ts'
import type { Sql, Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { heldRole, isOwner } from './caller-columns.ts'
import { endCredentials } from './credentials.ts'
import { newCredential } from './key-secret.ts'

/** The maximum number of users in a list. No organization has nearly as many. */
const listedMax = 10_000

export function createUsers(tenancy: Tenancy, clock: Clock): Users {
  const now = () => new Date(clock.nowMs())
  return {
    create: (organizationId, email, role) =>
      tenancy.asOperator(async (tx) => {
        if (role !== 'owner' && (await isLastOwner(tx, organizationId, addressOf(email)))) return 'last_owner'
        const stored = roleStored(role)
        await tx`
          insert into users (id, email, created_at) values (${`usr_${uniqueId()}`}, ${addressOf(email)}, ${now()})
          on conflict (email) do nothing`
        const [user] = await tx<User[]>`
          insert into user_roles as r (organization_id, user_id, role, owner_as, created_at)
          select o.id, u.id, ${stored.role}, ${stored.ownerAs}, ${now()} from organizations o, users u
          where o.id = ${organizationId} and u.email = ${addressOf(email)}
          on conflict (organization_id, user_id) do update set role = excluded.role, owner_as = excluded.owner_as
          returning user_id as id, organization_id as "organizationId", ${heldRole(tx)} as role`
        // The user may have had another role, and cached entries contain its scopes. So the caches must forget them.
        if (user) {
          await notifyKeyChange(tx, { organizationId })
          await noteCommand(tx, organizationId, 'member.created', { id: user.id, email: addressOf(email) }, now())
        }
        return user ? { ...user, email: addressOf(email) } : null
      }),
    issue: (organizationId, email, kind) =>
      tenancy.asOperator(async (tx) => {
        const { secret, lookup, digest } = newCredential(credentialPrefix[kind])
        const expiresAt = new Date(clock.nowMs() + credentialLifeMs[kind])
        const [issued] = await tx<Pick<IssuedCredential, 'expiresAt'>[]>`
          insert into user_credentials (organization_id, user_id, lookup, digest, method, created_at, expires_at)
          select r.organization_id, r.user_id, ${lookup}, ${digest}, ${kind === 'session' ? 'operator' : null}, ${now()}, ${expiresAt}
          from user_roles r join users u on u.id = r.user_id
          where r.organization_id = ${organizationId} and u.email = ${addressOf(email)}
          returning expires_at as "expiresAt"`
        return issued ? { secret, expiresAt: issued.expiresAt } : null
      }),
    list: (organizationId) =>
      tenancy.asOperator(
        (tx) => tx<User[]>`
          select u.id, u.email, r.organization_id as "organizationId", ${heldRole(tx)} as role
          from user_roles r join users u on u.id = r.user_id
          where r.organization_id = ${organizationId} order by u.email limit ${listedMax}`,
      ),
    signOut: (email) =>
      tenancy.asOperator(async (tx) => {
        const [user] = await tx<{ id: string }[]>`select id from users where email = ${addressOf(email)}`
        return user ? (await endCredentials(tx, user.id)).lookups.length : null
      }),
    remove: (organizationId, email) =>
      tenancy.asOperator((tx) => removeRole(tx, organizationId, addressOf(email), now())),
  }
}

/** Columns for an owner. A server version before schema 50 reads only `role`, and so treats the owner as an admin. */
export const ownerColumns = { role: 'admin', ownerAs: 'admin' }

/** Returns the columns for a role. */
export function roleStored(role: Role): { role: string; ownerAs: string | null } {
  return role === 'owner' ? ownerColumns : { role, ownerAs: null }
}

/** Removes a user's role. The user's tokens and sessions are deleted with it (on delete cascade). */
async function removeRole(tx: Tx, organizationId: string, email: string, now: Date): Promise<boolean | 'last_owner'> {
  if (await isLastOwner(tx, organizationId, email)) return 'last_owner'
  const [removed] = await tx<{ id: string }[]>`
    delete from user_roles r using users u
    where r.organization_id = ${organizationId} and u.id = r.user_id and u.email = ${email} returning r.user_id as id`
  if (removed === undefined) return false
  await notifyKeyChange(tx, { organizationId })
  await noteCommand(tx, organizationId, 'member.removed', { ...removed, email }, now)
  return true
}

/** Stores the operator's command in the audit log. */
function noteCommand(tx: Tx, organizationId: string, action: string, user: Pick<User, 'id' | 'email'>, now: Date) {
  const target = { type: 'member', id: user.id, name: user.email }
  return insertAuditEvent(tx, commandEvent(organizationId, action, target), now)
}

/** Locks the owners until the transaction ends, so two owners cannot both leave at the same time. */
async function isLastOwner(tx: Tx, organizationId: string, email: string): Promise<boolean> {
  const owners = await tx<{ email: string }[]>`
    select u.email from user_roles r join users u on u.id = r.user_id
    where r.organization_id = ${organizationId} and ${isOwner(tx)} order by r.user_id for update of r`
  return owners.length === 1 && owners[0]?.email === email
}

/** Deletes expired tokens and sessions. */
export async function sweepCredentials(system: Sql, clock: Clock): Promise<void> {
  await system`delete from user_credentials where expires_at < ${new Date(clock.nowMs())}`
}

const addressOf = (email: string) => email.toLowerCase()
