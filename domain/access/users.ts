/**
 * Dashboard users. A user has a role in an organization, and may use the operations that name this role or a lower one.
 */
import { type Caller, type Role, roles, type Scope } from '../records/organization.ts'

const scopesOfUsers: readonly Scope[] = ['router', 'realtime', 'platform']

/**
 * For each role: the scopes that its users may reach. Within a scope, each operation also names the lowest role that
 * may use it. No role has the scope `rmsg`, because only API keys may use rich messages.
 */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: scopesOfUsers,
  member: scopesOfUsers,
  admin: [...scopesOfUsers, 'admin'],
  owner: [...scopesOfUsers, 'admin'],
}

/**
 * Returns true if `held` is the role `least` or a higher role. If `least` is not a role's name, the result is false.
 */
export function reachesRole(held: Role, least: string | null): boolean {
  const rank = roles.findIndex((role) => role === least)
  return rank !== -1 && roles.indexOf(held) >= rank
}

/** The right that open work needs: a scope for an API key, and the lowest sufficient role for a user. */
export type Access = { scope: string; role: string | null }

/** Checks the role if the client is a user, or the scopes if the client is an API key. */
export function hasAccess({ role, scopes }: Caller, access: Access): boolean {
  return role === undefined ? scopes.some((each) => each === access.scope) : reachesRole(role, access.role)
}

/**
 * The kinds of credentials: a user token is sent as a bearer token, a session as a cookie. A credential sent in the
 * other way is refused.
 */
export type CredentialKind = 'user_token' | 'session'

export const credentialLifeMs: Readonly<Record<CredentialKind, number>> = {
  user_token: 3_600_000,
  session: 12 * 3_600_000,
}

/** The prefix shows a secret's kind before the secret is looked up. */
export const credentialPrefix: Readonly<Record<CredentialKind, string>> = { user_token: 'ut_', session: 'us_' }

export type User = { id: string; email: string; organizationId: string; role: Role }
export type IssuedCredential = { secret: string; expiresAt: Date }

/** Lets the operator manage dashboard users. Email addresses are compared without regard to case. */
export type Users = {
  /**
   * Gives the user the role. If the e-mail address is new, the user is created. Resolves with null if the organization
   * does not exist, and with `last_owner` if the organization would lose its only owner.
   */
  create(organizationId: string, email: string, role: Role): Promise<User | 'last_owner' | null>
  /** Lists users with a role in the organization, ordered by email address. */
  list(organizationId: string): Promise<User[]>
  /**
   * Issues a credential. Only this result contains its secret. Resolves with null if the user has no role in the
   * organization.
   */
  issue(organizationId: string, email: string, kind: CredentialKind): Promise<IssuedCredential | null>
  /**
   * Removes the user's role and credentials in the organization. Resolves with false if the user had no role there, and
   * with `last_owner` if the user is the only owner.
   */
  remove(organizationId: string, email: string): Promise<boolean | 'last_owner'>
  /**
   * Ends all sessions and tokens of the person, in all organizations. Resolves with their number, or with null if the
   * person does not exist.
   */
  signOut(email: string): Promise<number | null>
}
