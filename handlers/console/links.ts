/** The operations behind e-mailed links: to set a new password, and to accept an invitation. */
import type { Invitations } from '../../domain/access/sign-in/invitations.ts'
import type { Resets } from '../../domain/access/sign-in/resets.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import { browserOf } from './sign-in.ts'
import { type ConsoleDeps, currentSession, noStore, requireOurPage, withCookie } from './signed-in.ts'

type LinkHandlers = Pick<
  InternalHandlers<null>,
  'forgotPassword' | 'resetPassword' | 'readInvitation' | 'acceptInvitation'
>

export type LinkDeps = ConsoleDeps & { resets: Resets; invitations: Pick<Invitations, 'read' | 'accept'> }

export function linkHandlers(deps: LinkDeps): LinkHandlers {
  const { resets, invitations, sessions } = deps
  return {
    forgotPassword({ body: { email } }, { peer }) {
      requireOurPage(peer)
      resets.forgot(email)
      return { status: 202, headers: noStore, body: {} }
    },
    async resetPassword({ body: { token, password }, header }, { peer }) {
      requireOurPage(peer)
      await resets.reset(token, password, browserOf(peer, header))
      return { status: 204, headers: noStore }
    },
    async readInvitation({ body: { token } }, { peer }) {
      requireOurPage(peer)
      const { email, name, organizationName, role, invitedBy, expiresAt, isNew } = await invitations.read(token)
      const body = {
        email,
        name,
        organizationName,
        role,
        invitedBy,
        expiresAt: expiresAt.toISOString(),
        needsPassword: isNew,
      }
      return { status: 200, headers: noStore, body }
    },
    async acceptInvitation({ body: { token, name, password = null }, header }, { peer }) {
      requireOurPage(peer)
      const found = await currentSession(sessions, peer)
      const session = found?.organization.isDisabled ? null : found
      return withCookie(deps, await invitations.accept({ token, name, password }, session, browserOf(peer, header)))
    },
  }
}
