/**
 * Provider keys from organizations: the provider then bills the organization directly. Routing ranks providers first.
 * An attempt then uses the organization's key, or the operator's credential if there is no such key. A provider with
 * neither is not a candidate.
 */
import type { Provider } from '../ports/provider.ts'
import type { OwnKeys } from '../records/organization.ts'

/** `Provider.unavailable` answers this if only the operator's credential is missing. */
export const noCredential = 'no_credential'

export interface ProviderKeys {
  /**
   * Returns the key, without a promise if it was used recently. Null if it was deleted or replaced meanwhile. Rejects
   * if it was sealed with a master key that this process does not have.
   */
  open(organizationId: string, provider: string, keyId: string): string | null | Promise<string | null>
}

/** For the organization. Answers never contain the key. */
export interface ProviderKeyAdministration {
  list(organizationId: string): Promise<OwnKeys>
  /** Replaces an existing key. */
  put(organizationId: string, provider: string, apiKey: string): Promise<void>
  /** False if the organization has no key for this provider. */
  remove(organizationId: string, provider: string): Promise<boolean>
}

/** The id of the organization's key for an attempt at this provider. Null means the operator's credential. */
export function ownKeyIdOf({ id, forKey }: Provider, ownKeys: OwnKeys): string | null {
  return forKey && Object.hasOwn(ownKeys, id) ? (ownKeys[id] ?? null) : null
}
