/** People who use the dashboard. Each has a role in an organization, and acts there with the scopes of that role. */
import type { Scope } from '../records/organization.ts'

export const roles = ['member', 'admin'] as const
export type Role = (typeof roles)[number]

/** No role has the scope `rmsg`: rich messages are for API keys only. */
export const scopesOfRole: Readonly<Record<Role, readonly Scope[]>> = {
  member: ['router', 'realtime', 'platform'],
  admin: ['router', 'realtime', 'platform', 'admin'],
}

/** A user token is sent as a bearer, a session as a cookie. Neither is taken in place of the other. */
export type CredentialKind = 'user_token' | 'session'

export const credentialLifeMs: Readonly<Record<CredentialKind, number>> = {
  user_token: 3_600_000,
  session: 12 * 3_600_000,
}

/** The secret begins with it, so that the kind is known before the secret is looked up. */
export const credentialPrefix: Readonly<Record<CredentialKind, string>> = { user_token: 'ut_', session: 'us_' }

export type User = { id: string; email: string; organizationId: string; role: Role }
export type IssuedCredential = { secret: string; expiresAt: Date }

/** For the operator. A user is named by an email address, in any case. */
export type Users = {
  /** Gives the user the role, and makes the user where the address is new. Null: no such organization. */
  create(organizationId: string, email: string, role: Role): Promise<User | null>
  /** Those with a role in the organization, by their address. */
  list(organizationId: string): Promise<User[]>
  /** Only this answer contains the secret. Null: the user has no role in the organization. */
  issue(organizationId: string, email: string, kind: CredentialKind): Promise<IssuedCredential | null>
  /** Ends the role and all credentials of the user in the organization. False: there was no role. */
  remove(organizationId: string, email: string): Promise<boolean>
}
