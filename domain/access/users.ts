/** Dashboard users. A user has a role in an organization, and acts there with the role's scopes. */
import type { Scope } from '../records/organization.ts'

export const roles = ['member', 'admin'] as const
export type Role = (typeof roles)[number]

/** No role has the scope `rmsg`, because rich messages are for API keys only. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  member: ['router', 'realtime', 'platform'],
  admin: ['router', 'realtime', 'platform', 'admin'],
}

/** A user token is sent as a bearer, a session as a cookie. Neither is accepted in place of the other. */
export type CredentialKind = 'user_token' | 'session'

export const credentialLifeMs: Readonly<Record<CredentialKind, number>> = {
  user_token: 3_600_000,
  session: 12 * 3_600_000,
}

/** The secret's prefix shows the kind before the secret is looked up. */
export const credentialPrefix: Readonly<Record<CredentialKind, string>> = { user_token: 'ut_', session: 'us_' }

export type User = { id: string; email: string; organizationId: string; role: Role }
export type IssuedCredential = { secret: string; expiresAt: Date }

/** For the operator. An email address names a user, in any case. */
export type Users = {
  /** Gives the user the role, and creates the user if the address is new. Null if the organization does not exist. */
  create(organizationId: string, email: string, role: Role): Promise<User | null>
  /** Lists users with a role in the organization, by address. */
  list(organizationId: string): Promise<User[]>
  /** Only this answer contains the secret. Null if the user has no role in the organization. */
  issue(organizationId: string, email: string, kind: CredentialKind): Promise<IssuedCredential | null>
  /** Removes the user's role and credentials in the organization. False if there was no role. */
  remove(organizationId: string, email: string): Promise<boolean>
}
