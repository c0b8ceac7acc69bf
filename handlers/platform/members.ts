/** The operations on the people of an organization. */
import type { KeyAdministration } from '../../domain/access/api-keys.ts'
import type { Member, MemberRefusal, Members } from '../../domain/access/members.ts'
import { reachesRole } from '../../domain/access/users.ts'
import { entryOf, noteValues } from '../../domain/records/audit.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { ResourceFault, requireResource } from '../../domain/records/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type * as Wire from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { requireNoLimits } from './own-limits.ts'

export function memberOperations(members: Members, keys: Pick<KeyAdministration, 'get'>) {
  return {
    listMembers: async (_request, { caller }) => {
      const rows = await members.list(caller.organization.id)
      return { status: 200, body: rows.map((row) => wireMember(row, seesAddresses(caller))) }
    },
    updateMember: async ({ path: { userId }, body: { role } }, { caller }) => {
      const { id } = caller.organization
      await requireNoLimits(keys, caller)
      const changed = admitted(await members.change(id, userId, role, isOwner(caller), entryOf(caller)), caller)
      noteValues(caller, 'role', changed.before, changed.after)
      const member = requireResource(await members.find(id, userId))
      return { status: 200, body: wireMember(member, seesAddresses(caller)) }
    },
    removeMember: async ({ path: { userId } }, { caller }) => {
      const role = admitted(
        await members.remove(caller.organization.id, userId, isOwner(caller), entryOf(caller)),
        caller,
      )
      noteValues(caller, 'role', role, null)
      return { status: 200, body: { removed: true } }
    },
    signOutMember: async ({ path: { userId } }, { caller }) => {
      const sessions = admitted(
        await members.signOut(caller.organization.id, userId, isOwner(caller), entryOf(caller)),
        caller,
      )
      return { status: 200, body: { sessions } }
    },
  } satisfies Partial<PlatformHandlers<Caller>>
}

const isOwner = ({ role }: Caller) => role === 'owner'

function seesAddresses({ role, scopes }: Caller): boolean {
  return role === undefined ? scopes.includes('admin') : reachesRole(role, 'admin')
}

/** Throws if the person has no role in the organization, or if the change is refused. */
function admitted<Changed extends object | string | number>(
  changed: Changed | MemberRefusal | null,
  { role }: Caller,
): Exclude<Changed, MemberRefusal> {
  const known = requireResource(changed)
  if (known === 'last_owner') throw new ResourceFault({ kind: 'last_owner' })
  if (known !== 'owners_only') return known as Exclude<Changed, MemberRefusal>
  const held = role === undefined ? 'An API key has no role' : `The role of this user is ${role}`
  throw new Refusal('forbidden', {
    message: `${held}, and only an owner gives or takes the role owner, or signs an owner out.`,
    hint: 'Ask an owner of the organization.',
  })
}

function wireMember({ email, lastSeenAt, createdAt, ...member }: Member, seesAddress: boolean): Wire.Member {
  const { userId, name, role, methods } = member
  return {
    ...{ userId, name, role, methods },
    email: seesAddress ? email : null,
    lastSeenAt: lastSeenAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  }
}
