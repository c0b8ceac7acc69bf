/** Reads and sets the session cookie, and finds the signed-in person. */
import type { OpenedSession, PeopleStore, Session, SessionStore } from '../../domain/access/sign-in/people.ts'
import type { SignIn } from '../../domain/access/sign-in/sign-in.ts'
import type { ConsoleSession } from '../../generated/internal/types.ts'
import { type Peer, Refusal } from '../../runtime/engine/handler.ts'
import { cookieValue, isFromOwnPage, sessionCookie } from '../authenticate.ts'

export const noStore = { 'Cache-Control': 'no-store' } as const

export type ConsoleDeps = {
  signIn: SignIn
  people: PeopleStore
  sessions: SessionStore
  server: ConsoleSession['server']
  /** True if the public URL is https, so browsers send the cookie only over https. */
  isSecure: boolean
  /**
   * True if only this machine reaches the server. Then a browser on this machine needs no setup code to create the
   * first user.
   */
  isReachedHereOnly: boolean
}

/** Throws unless our page has sent the request. A form on another site could otherwise sign a person in or out. */
export function requireOurPage(peer: Peer): void {
  if (isFromOwnPage(peer)) return
  throw new Refusal('foreign_origin', { message: 'A page of another origin may not use the console.', hint: '' })
}

/**
 * Returns the cookie's session. Throws unless our page has sent the request, the session is open and its organization
 * is enabled.
 */
export async function signedIn({ sessions }: ConsoleDeps, peer: Peer): Promise<Session> {
  requireOurPage(peer)
  const session = await currentSession(sessions, peer)
  if (session === null || session.organization.isDisabled)
    throw new Refusal('unauthenticated', { message: 'Nobody is signed in.', hint: 'Sign in.' })
  return session
}

/** Returns the cookie's session, or null. */
export async function currentSession(sessions: SessionStore, { cookie }: Peer): Promise<Session | null> {
  const secret = cookieValue(cookie, sessionCookie)
  return secret === null ? null : sessions.find(secret)
}

/** Makes the response with the session and its cookie. */
export async function withCookie(deps: ConsoleDeps, { secret, session }: OpenedSession) {
  return {
    status: 200,
    headers: { ...noStore, 'Set-Cookie': setCookie(deps, secret, session) },
    body: await wireSession(deps, session),
  } as const
}

/** Lax and not Strict: a browser that comes back from an OIDC provider must send the cookie. */
export function setCookie({ isSecure }: ConsoleDeps, secret: string, { signedInAt, expiresAt }: Session): string {
  const lifeS = Math.ceil((expiresAt.getTime() - signedInAt.getTime()) / 1000)
  return `${sessionCookie}=${secret}; ${attributes(isSecure)}; Max-Age=${lifeS}`
}

export const clearedCookie = ({ isSecure }: ConsoleDeps) => `${sessionCookie}=; ${attributes(isSecure)}; Max-Age=0`

const attributes = (isSecure: boolean) => `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

export async function wireSession({ people, server }: ConsoleDeps, session: Session): Promise<ConsoleSession> {
  const { user, organization, method, signedInAt, expiresAt } = session
  return {
    user,
    organization: { id: organization.id, name: organization.name, timeZone: organization.timeZone },
    role: organization.role,
    organizations: await people.memberships(user.id),
    method,
    signedInAt: signedInAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    server,
  }
}
