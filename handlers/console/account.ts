/** The operations on the signed-in person's sessions, name and password. */
import type { MySession as StoredSession } from '../../domain/access/sign-in/people.ts'
import type { InternalHandlers } from '../../generated/internal/handlers.ts'
import type { MySession } from '../../generated/internal/types.ts'
import { browserOf } from './sign-in.ts'
import { type ConsoleDeps, noStore, signedIn, wireSession, withCookie } from './signed-in.ts'

type AccountHandlers = Pick<InternalHandlers<null>, 'listMySessions' | 'endMySession' | 'updateMe' | 'changePassword'>

export function accountHandlers(deps: ConsoleDeps): AccountHandlers {
  const { signIn, people } = deps
  return {
    async listMySessions(_request, { peer }) {
      const all = await signIn.listSessions(await signedIn(deps, peer))
      return { status: 200, headers: noStore, body: all.map(wireMySession) }
    },
    async endMySession({ path: { id }, header }, { peer }) {
      await signIn.endSession(await signedIn(deps, peer), id, browserOf(peer, header))
      return { status: 204, headers: noStore }
    },
    async updateMe({ body: { name } }, { peer }) {
      const session = await signedIn(deps, peer)
      await people.rename(session.user.id, name)
      const renamed = { ...session, user: { ...session.user, name } }
      return { status: 200, headers: noStore, body: await wireSession(deps, renamed) }
    },
    async changePassword({ body, header }, { peer }) {
      const session = await signedIn(deps, peer)
      return withCookie(deps, await signIn.changePassword(session, body, browserOf(peer, header)))
    },
  }
}

function wireMySession({ createdAt, lastSeenAt, ...session }: StoredSession & { current: boolean }): MySession {
  return { ...session, createdAt: createdAt.toISOString(), lastSeenAt: lastSeenAt?.toISOString() ?? null }
}
