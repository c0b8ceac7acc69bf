/**
 * An organization may store a provider key, so that the provider bills the organization directly. Providers are ranked
 * without regard to keys. An attempt uses the organization's key for the provider, or the operator's credential if the
 * organization has no such key. A provider without either credential is not a candidate.
 */
import type { Provider } from '../ports/provider.ts'
import type { OwnKeys } from '../records/organization.ts'

/** The result of `Provider.unavailable` if only the operator's credential is missing. */
export const noCredential = 'no_credential'

export interface ProviderKeys {
  /**
   * Decrypts an organization's provider key. Returns without a promise if the key is in memory after a recent use.
   * Returns null if the key was deleted or replaced after `keyId` was read. Rejects if it was encrypted with a master
   * key that this process does not have.
   */
  open(organizationId: string, provider: string, keyId: string): string | null | Promise<string | null>
}

/** Lets an organization manage its provider keys. No method returns a key's text. */
export interface ProviderKeyAdministration {
  list(organizationId: string): Promise<OwnKeys>
  /** Stores a key. Replaces an existing key for the same provider. */
  put(organizationId: string, provider: string, apiKey: string): Promise<void>
  /** Removes the key. Resolves with false if the organization has no key for this provider. */
  remove(organizationId: string, provider: string): Promise<boolean>
}

/**
 * Returns the id of the organization's key for an attempt at this provider, or null if the operator's credential is
 * used.
 */
export function ownKeyIdOf({ id, forKey }: Provider, ownKeys: OwnKeys): string | null {
  return forKey && Object.hasOwn(ownKeys, id) ? (ownKeys[id] ?? null) : null
}
