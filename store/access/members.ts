/**
 * An organization's people. The tables with names and e-mail addresses are visible only to the operator's access, so
 * lists are read with this access.
 */
import type { Member, MemberRefusal, Members } from '../../domain/access/members.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Role } from '../../domain/records/organization.ts'
import { notifyKeyChange } from '../caches/key-changes.ts'
import type { Tx } from '../postgres/connect.ts'
import type { Tenancy } from '../postgres/tenant.ts'
import { heldRole, isOwner } from './caller-columns.ts'
import { ownerColumns } from './users.ts'

const listedMax = 10_000

export function createMembers(tenancy: Tenancy, clock: Clock): Members {
  const read = (organizationId: string, userId: string | null) =>
    tenancy.asOperator((tx) => readMembers(tx, organizationId, userId, new Date(clock.nowMs())))
  return {
    list: (organizationId) => read(organizationId, null),
    find: async (organizationId, userId) => (await read(organizationId, userId))[0] ?? null,
    change: (organizationId, userId, role, byOwner, entry) =>
      tenancy.asOrganization(
        organizationId,
        async (tx) => {
          const before = await heldBy(tx, organizationId, userId)
          if (before === null) return null
          const refusal = before === role ? null : await refusalOf(tx, organizationId, [before, role], byOwner)
          if (refusal !== null) return refusal
          const stored = role === 'owner' ? ownerColumns : { role, ownerAs: null }
          await tx`
          update user_roles set role = ${stored.role}, owner_as = ${stored.ownerAs}
          where organization_id = ${organizationId} and user_id = ${userId}`
          await notifyKeyChange(tx, { organizationId })
          return { before, after: role }
        },
        entry,
      ),
    remove: (organizationId, userId, byOwner, entry) =>
      tenancy.asOrganization(
        organizationId,
        async (tx) => {
          const role = await heldBy(tx, organizationId, userId)
          if (role === null) return null
          const refusal = await refusalOf(tx, organizationId, [role], byOwner)
          if (refusal !== null) return refusal
          await tx`delete from user_roles where organization_id = ${organizationId} and user_id = ${userId}`
          await notifyKeyChange(tx, { organizationId })
          return role
        },
        entry,
      ),
    signOut: (organizationId, userId, byOwner, entry) =>
      tenancy.asOrganization(
        organizationId,
        async (tx) => {
          const role = await heldBy(tx, organizationId, userId)
          if (role === null) return null
          if (role === 'owner' && !byOwner) return 'owners_only'
          const { count } = await tx`
          delete from user_credentials where organization_id = ${organizationId} and user_id = ${userId}`
          await notifyKeyChange(tx, { organizationId })
          return count
        },
        entry,
      ),
  }
}

/**
 * Reads and locks the person's role. All owners are locked first, in one order, so that two owners cannot both leave at
 * the same time.
 */
async function heldBy(tx: Tx, organizationId: string, userId: string): Promise<Role | null> {
  await tx`
    select from user_roles r where r.organization_id = ${organizationId} and ${isOwner(tx)}
    order by r.user_id for update`
  const [row] = await tx<{ role: Role }[]>`
    select ${heldRole(tx)} as role from user_roles r
    where r.organization_id = ${organizationId} and r.user_id = ${userId} for update`
  return row?.role ?? null
}

/** Returns the reason if the change of a role from `before` to `after` must be refused. */
async function refusalOf(
  tx: Tx,
  organizationId: string,
  [before, after]: readonly [before: Role, after?: Role],
  byOwner: boolean,
): Promise<MemberRefusal | null> {
  if (before !== 'owner') return after === 'owner' && !byOwner ? 'owners_only' : null
  if (!byOwner) return 'owners_only'
  const owners = await tx`
    select from user_roles r where r.organization_id = ${organizationId} and ${isOwner(tx)} limit 2`
  return owners.length < 2 ? 'last_owner' : null
}

async function readMembers(tx: Tx, organizationId: string, userId: string | null, now: Date): Promise<Member[]> {
  return tx<Member[]>`
    select r.user_id as "userId", u.name, u.email, ${heldRole(tx)} as role, r.created_at as "createdAt",
      (select coalesce(jsonb_agg(distinct case when i.kind = 'oidc' then i.provider else i.kind end), '[]')
        from identities i where i.user_id = r.user_id) as methods,
      (select max(c.last_seen_at) from user_credentials c
        where c.organization_id = r.organization_id and c.user_id = r.user_id and c.expires_at > ${now}) as "lastSeenAt"
    from user_roles r join users u on u.id = r.user_id
    where r.organization_id = ${organizationId} and (${userId}::text is null or r.user_id = ${userId})
    order by u.email limit ${listedMax}`
}
