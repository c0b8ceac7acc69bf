/** Dashboard users. A user has a role in an organization, and acts there with the role's scopes. */
import type { Scope } from '../records/organization.ts'

export const roles = ['member', 'admin'] as const
export type Role = (typeof roles)[number]

/** No role has the scope `rmsg`, because only API keys may use rich messages. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  member: ['router', 'realtime', 'platform'],
  admin: ['router', 'realtime', 'platform', 'admin'],
}

/** A user token is sent as a bearer token, a session as a cookie. Neither is accepted in place of the other. */
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
   * Gives the user the role. If the address is new, the user is created. Resolves with null if the organization does
   * not exist.
   */
  create(organizationId: string, email: string, role: Role): Promise<User | null>
  /** Lists users with a role in the organization, ordered by email address. */
  list(organizationId: string): Promise<User[]>
  /**
   * Issues a credential. No later answer contains its secret. Resolves with null if the user has no role in the
   * organization.
   */
  issue(organizationId: string, email: string, kind: CredentialKind): Promise<IssuedCredential | null>
  /** Removes the user's role and credentials in the organization. Resolves with false if the user had no role there. */
  remove(organizationId: string, email: string): Promise<boolean>
}
