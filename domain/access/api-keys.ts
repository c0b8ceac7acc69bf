/** An organization's API keys, as the operator and the organization itself administer them. */
import type { Actor, AuditEntry } from '../records/audit.ts'
import type { KeyPolicy, Scope } from '../records/organization.ts'

export type ApiKey = {
  id: string
  organizationId: string
  name: string
  /** The key's public part, which may be shown: `sk_live_Ab3dE9xz`. */
  publicId: string
  scopes: Scope[]
  policy: KeyPolicy
  test: boolean
  createdAt: Date
  rotatedAt: Date | null
  /** The secret from before the last rotation works until this time. Null if no old secret works. */
  previousUntil: Date | null
  revokedAt: Date | null
  expiresAt: Date | null
  /** The last use, exact to about a minute. */
  lastUsedAt: Date | null
  /** Null if the key was made before the server recorded creators. */
  createdBy: Actor | null
}

export type NewKey = {
  organizationId: string
  name: string
  scopes: readonly Scope[]
  test: boolean
  policy: KeyPolicy
  expiresAtMs: number | null
  /** The key's maker. If absent, the operator makes the key. */
  createdBy?: Actor
  /** A secret chosen by the operator. If it is absent, a new secret is made. */
  secret?: string
}

/** A key with its secret. No later API response contains the secret. */
export type IssuedKey = { key: ApiKey; secret: string }

/** A field that is absent stays unchanged. */
export type KeyChange = { name?: string; policy?: KeyPolicy }

/**
 * An organization may have at most this many keys, not counting revoked keys. Only the operator may make more. A list
 * also has at most this many keys.
 */
export const keysMax = 1_000

/**
 * Administers an organization's API keys. If a key belongs to another organization, it is treated as unknown. The
 * transaction stores `entry` in the audit log.
 */
export type KeyAdministration = {
  /** Makes a key. Null if the organization does not exist. */
  create(key: NewKey): Promise<IssuedKey | null>
  /** Makes a key, unless the organization has `keysMax` keys that are not revoked. */
  createLimited(key: NewKey, entry?: AuditEntry): Promise<IssuedKey | 'limit_reached'>
  list(organizationId: string): Promise<ApiKey[]>
  /** Lists either the revoked keys or the other keys, oldest first and at most `keysMax`. */
  listBy(organizationId: string, isRevoked: boolean): Promise<ApiKey[]>
  get(organizationId: string, keyId: string): Promise<ApiKey | null>
  /**
   * Changes a key's name and policy. A new total budget starts at 0. A new daily or monthly budget includes the costs
   * since the day or month began. Null if the key is unknown or revoked.
   */
  change(organizationId: string, keyId: string, change: KeyChange, entry?: AuditEntry): Promise<ApiKey | null>
  /**
   * Makes a new secret. The present secret works for another `overlapMs`; a still older secret ends at once. Null if
   * the key is unknown or revoked.
   */
  rotate(organizationId: string, keyId: string, overlapMs: number, entry?: AuditEntry): Promise<IssuedKey | null>
  /** Returns false if the key is unknown or already revoked. */
  revoke(organizationId: string, keyId: string, entry?: AuditEntry): Promise<boolean>
}

/** Reads the names of people and keys, to show who did something. */
export interface ActorNames {
  /**
   * Returns a function that finds an actor's name: a key's name, or the person's name or e-mail address, as `people`
   * says. Only admins may see e-mail addresses. The function returns null if the actor has no name.
   */
  read(
    organizationId: string,
    actors: readonly (Actor | null)[],
    people: 'name' | 'email',
  ): Promise<(actor: Actor) => string | null>
}
