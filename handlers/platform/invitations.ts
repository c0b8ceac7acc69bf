/** Invitations of people to the organization. */
import type { KeyAdministration } from '../../domain/access/api-keys.ts'
import type { Invitation, Invitations, SentInvitation } from '../../domain/access/sign-in/invitations.ts'
import type { Caller, Role } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { Invitation as WireInvitation } from '../../generated/platform/types.ts'
import { Refusal } from '../../runtime/engine/handler.ts'
import { requireRole } from '../authenticate.ts'
import { requireNoLimits } from './own-limits.ts'

type InvitationHandlers = Pick<
  PlatformHandlers<Caller>,
  'listInvitations' | 'createInvitation' | 'resendInvitation' | 'deleteInvitation'
>

export function invitationOperations(
  invitations: Invitations,
  keys: Pick<KeyAdministration, 'get'>,
): InvitationHandlers {
  return {
    async listInvitations(_request, { caller }) {
      const all = await invitations.list(caller.organization.id)
      return { status: 200, body: all.map(wireInvitation) }
    },
    async createInvitation({ body: { email, role, name = null } }, { caller }) {
      requireOwnerFor(caller, role)
      await requireNoLimits(keys, caller)
      const inviter = { type: caller.role === undefined ? 'api_key' : 'user', id: caller.keyId } as const
      return {
        status: 201,
        body: wireSent(await invitations.create(caller.organization, { email, role, name }, inviter)),
      }
    },
    async resendInvitation({ path: { id } }, { caller }) {
      const { role } = await invitations.find(caller.organization.id, id)
      requireOwnerFor(caller, role)
      await requireNoLimits(keys, caller)
      return { status: 200, body: wireSent(await invitations.resend(caller.organization, id)) }
    },
    async deleteInvitation({ path: { id } }, { caller }) {
      await invitations.delete(caller.organization.id, id)
      return { status: 200, body: { deleted: true } }
    },
  }
}

/**
 * Only an owner may invite an owner. The response contains the link, so an admin could otherwise open the link and
 * become an owner. An API key is refused too, because an admin can make a key with every scope.
 */
function requireOwnerFor({ role }: Caller, invited: Role): void {
  if (invited !== 'owner') return
  if (role !== undefined) return requireRole(role, 'owner')
  throw new Refusal('forbidden', {
    message: 'An API key has no role, and only an owner invites an owner.',
    hint: 'Ask an owner of the organization.',
  })
}

function wireSent({ invitation, url, error }: SentInvitation) {
  return { ...wireInvitation(invitation), url, sent: error === null, sendError: error }
}

function wireInvitation({ createdAt, expiresAt, sentAt, ...invitation }: Invitation): WireInvitation {
  const { id, email, name, role, invitedBy } = invitation
  return {
    id,
    email,
    name,
    role,
    invitedBy,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    sentAt: sentAt?.toISOString() ?? null,
  }
}
