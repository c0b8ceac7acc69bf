/** People, their passwords and sessions, as the store keeps them. */
import type { Role } from '../../records/organization.ts'

export type Person = { id: string; email: string; name: string | null }

/** `passwordHash` is null if the person has no password. */
export type KnownPerson = Person & { passwordHash: string | null }

/** A person's role in an enabled organization. */
export type Membership = { id: string; name: string; role: Role }

/** The browser that signs in. */
export type Browser = { ip: string; userAgent: string | null }

/** `id` comes from the secret's digest and reveals nothing about the secret. */
export type Session = {
  id: string
  user: Person
  organization: Membership & { isDisabled: boolean; timeZone: string }
  method: string
  signedInAt: Date
  expiresAt: Date
}

export type MySession = {
  id: string
  createdAt: Date
  lastSeenAt: Date | null
  ip: string | null
  userAgent: string | null
  method: string
}

/** A session and its secret, which only the cookie gets. */
export type OpenedSession = { secret: string; session: Session }

export type NewSession = {
  userId: string
  /** If null, the session opens in the person's first organization by name. */
  organizationId: string | null
  method: string
  browser: Browser
  signedInAt: Date
  expiresAt: Date
}

export type PasswordChange = {
  userId: string
  /** The session's organization. */
  organizationId: string
  passwordHash: string
  replaces: string
  browser: Browser
}

/** Notes wrong passwords in the audit log of each organization of the person with this address, if there is one. */
export type SignInFailures = { note(email: string, browser: Browser): Promise<void> }

export type PeopleStore = {
  /** True if no person exists. */
  isEmpty(): Promise<boolean>
  find(email: string): Promise<KnownPerson | null>
  /** Makes the first person, who owns the oldest organization or a new one. Null if a person exists. */
  setUp(first: { email: string; name: string; passwordHash: string }): Promise<Person | null>
  rename(userId: string, name: string): Promise<void>
  /**
   * Stores the password and ends the person's sessions and tokens. If the stored hash differs from `replaces`, changes
   * nothing and resolves with false. The audit log of the session's organization has the change.
   */
  changePassword(change: PasswordChange): Promise<boolean>
  /** Stores a stronger hash for the same password, unless the password has changed meanwhile. */
  rehash(userId: string, passwordHash: string, replaces: string): Promise<void>
  /** Lists the person's enabled organizations by name, at most 1,000. */
  memberships(userId: string): Promise<Membership[]>
}

export type SessionStore = {
  /**
   * Opens a session. Resolves with null if the person has no role in the organization or the organization is disabled.
   * With `proof`, it also resolves with null if the person's password hash is no longer `proof`.
   */
  open(session: NewSession, proof?: string): Promise<OpenedSession | null>
  /**
   * Opens a session in another organization and ends the session `id`. Resolves with null in the same cases as `open`.
   */
  move(id: string, session: NewSession): Promise<OpenedSession | null>
  find(secret: string): Promise<Session | null>
  /** Lists the person's sessions, the newest first. */
  list(userId: string): Promise<MySession[]>
  /** Ends one session. Resolves with false if the person has no such session. */
  end(userId: string, id: string, browser: Browser): Promise<boolean>
  /** Ends the person's sessions and tokens. Resolves with their number. */
  endAll(userId: string, browser: Browser): Promise<number>
}
